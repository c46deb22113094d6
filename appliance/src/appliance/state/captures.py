"""Packet captures: what is asked for, within which limits, and those that are kept."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from appliance.state.part import Answer, Everything, Part, Question
from frr_config.types import InterfaceName

MOST_PACKETS = 100_000
MOST_SECONDS = 600
MOST_BYTES = 64 * 1024 * 1024
LEAST_SNAP_BYTES, MOST_SNAP_BYTES = 64, 9000
MOST_RUNNING = 2
MOST_KEPT = 10
"""Captures that are kept; the oldest goes when another begins."""
KEPT_BYTES = 256 * 1024 * 1024
"""What all of them together may take of the disk."""
MOST_PART_BYTES = 1024 * 1024
"""Of a capture's file, in one answer."""

CAPTURE_ID = r"^[0-9a-f]{12}$"
CaptureId = Annotated[str, StringConstraints(pattern=CAPTURE_ID)]
FilterText = Annotated[str, StringConstraints(pattern=r"^[ -~]*$", max_length=500, strip_whitespace=True)]


class CaptureWanted(Question):
    """What is to be captured, and when it ends by itself: at the first limit that is reached."""

    interface: InterfaceName = Field(description="Name of the interface in the configuration.")
    direction: Literal["both", "in", "out"] = "both"
    filter: FilterText = Field(
        "", description="A filter of pcap (pcap-filter(7)) with numbers for hosts; empty for every packet."
    )
    packets: int = Field(1000, ge=1, le=MOST_PACKETS, description="Packets at most.")
    seconds: int = Field(60, ge=1, le=MOST_SECONDS, description="Seconds at most.")
    size_bytes: int = Field(
        16 * 1024 * 1024, ge=4096, le=MOST_BYTES, description="Bytes of the file at most."
    )
    snap_bytes: int = Field(
        MOST_SNAP_BYTES,
        ge=LEAST_SNAP_BYTES,
        le=MOST_SNAP_BYTES,
        description="Bytes kept of each packet: 128 are headers, and little of the payload.",
    )


class CaptureState(Answer):
    """A capture that runs, or one whose file is kept."""

    id: str
    wanted: CaptureWanted
    author: str
    started_at: str = Field(description="By the router's clock, ISO 8601.")
    state: Literal["running", "done", "failed"]
    ended: str = Field("", description="Why it ended.")
    ran_s: float = Field(description="Seconds it has run, or ran.")
    packets: int = Field(description="In the file, so far.")
    size_bytes: int = Field(description="Of the file, so far.")
    lost: int | None = Field(
        None,
        description="Packets that passed and were not captured for want of time; null where not reported.",
    )
    note: str = Field("", description="What to know about it on this data plane.")

    @property
    def interface(self) -> str:
        """Its interface."""
        return self.wanted.interface

    @property
    def filter(self) -> str:
        """Its filter."""
        return self.wanted.filter


class Captures(Answer):
    """Every capture, the newest first."""

    captures: tuple[CaptureState, ...]


class Capture(Question):
    """Which capture."""

    capture: CaptureId = Field(description="Its id.")


CAPTURES = Part(
    "captures",
    "Packet captures that run or are kept, without what was captured.",
    Everything,
    Captures,
    lambda router, _: Captures(captures=router.captures.all()),
)
