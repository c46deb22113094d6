"""Where captured packets come from: what both data planes have in common."""

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
    """Packets that passed and were not captured; None where nobody says."""


class Source(Protocol):
    """One capture on one data plane."""

    note: str
    """What to know about captures of this plane; empty for nothing."""

    def begin(self, wanted: CaptureWanted) -> None:
        """Returns once packets are captured. Raises CaptureFailed, VppError."""

    def run(self, wanted: CaptureWanted, records: Records, stop: threading.Event) -> Ended:
        """Feed ``records`` until they are full, the time is up or ``stop`` is set; then clean up.

        Raises CaptureFailed, OSError, NotPcap; what was captured until then is in ``records``.
        """
