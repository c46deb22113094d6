"""The source of captured packets: the part common to both data planes."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol

from appliance.capture.pcap_file import Records
from appliance.errors import RouterUnavailable
from appliance.state.captures import CaptureWanted


class CaptureFailed(RouterUnavailable):
    """The capture could not begin, or did not go on; the message says why."""


@dataclass(frozen=True)
class Ended:
    """How a capture ended."""

    why: str
    lost: int | None = None
    """Packets that passed and were not captured; None if unknown."""


class Source(Protocol):
    """One capture on one data plane."""

    note: str
    """A note on captures of this plane; empty if there is none."""

    def begin(self, wanted: CaptureWanted) -> None:
        """Returns once packets are captured. Raises CaptureFailed, VppError."""

    def run(self, wanted: CaptureWanted, records: Records, stop: threading.Event) -> Ended:
        """Feed ``records`` until they are full, the time is up or ``stop`` is set; then clean up.

        Raises CaptureFailed, OSError, NotPcap; what was captured until then is in ``records``.
        """
