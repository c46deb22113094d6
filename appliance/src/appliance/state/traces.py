"""Packet traces: what is asked for, within which limits, and what packets did in VPP's graph."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from appliance.state.part import Answer, Everything, Part, Question
from frr_config.types import InterfaceName

MOST_PACKETS = 500
MOST_SECONDS = 60
MOST_KEPT = 3
"""Traces that are kept, in the agent's memory; the oldest goes when another begins."""
TRACE_ID = r"^[0-9a-f]{12}$"
TraceId = Annotated[str, StringConstraints(pattern=TRACE_ID)]


def _network(text: str) -> str:
    try:
        return str(ip_network(text))
    except ValueError:
        raise PydanticCustomError("network", "must be an address or a prefix without host bits") from None


Network = Annotated[str, StringConstraints(max_length=64, strip_whitespace=True), AfterValidator(_network)]
"""An address or a prefix of either family."""


class TraceWanted(Question):
    """Which packets are traced, as they arrive, and when the trace ends by itself."""

    interface: InterfaceName = Field(description="Name of the interface on which they arrive.")
    packets: int = Field(50, ge=1, le=MOST_PACKETS, description="Packets at most.")
    seconds: int = Field(10, ge=1, le=MOST_SECONDS, description="Seconds at most.")
    source: Network | None = Field(None, description="Only packets from this address or prefix.")
    destination: Network | None = Field(None, description="Only packets to this address or prefix.")

    @model_validator(mode="after")
    def _one_family(self) -> Self:
        if self.source and self.destination and (":" in self.source) != (":" in self.destination):
            raise PydanticCustomError("family", "source and destination are of different families")
        return self


class TraceStep(Answer):
    """A packet in one node of VPP's graph."""

    node: str
    at_s: float = Field(description="Seconds since VPP started.")
    lines: tuple[str, ...] = Field(description="What the node recorded, in VPP's words.")


class TracedPacket(Answer):
    """A packet on its way through VPP's graph."""

    number: int
    thread: str = Field(description="Thread of VPP that had it.")
    summary: str = Field(description="Its source and destination, if a node shows them.")
    end: str = Field(description="The last node that had it.")
    dropped: bool = Field(description="Whether VPP dropped it.")
    steps: tuple[TraceStep, ...]


class TraceState(Answer):
    """A trace that runs, or one that is kept."""

    id: str
    wanted: TraceWanted
    author: str
    started_at: str = Field(description="By the router's clock, ISO 8601.")
    state: Literal["running", "done", "failed"]
    ended: str = Field("", description="Why it ended.")
    ran_s: float = Field(description="Seconds it has run, or ran.")
    packets: int = Field(0, description="Traced, as of the last look at VPP.")

    @property
    def interface(self) -> str:
        """Its interface."""
        return self.wanted.interface


class TraceResult(Answer):
    """A trace with its packets; there are none while it runs."""

    trace: TraceState
    packets: tuple[TracedPacket, ...]


class Traces(Answer):
    """Every trace, the newest first."""

    traces: tuple[TraceState, ...]


class Trace(Question):
    """Which trace."""

    trace: TraceId = Field(description="Its id.")


TRACES = Part(
    "traces",
    "Packet traces that run or are kept, without their packets.",
    Everything,
    Traces,
    lambda router, _: Traces(traces=router.traces.all()),
)
