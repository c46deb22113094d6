"""The clocks of the engine: one for people, one for deadlines."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Clock(Protocol):
    """The time. Deadlines are kept in ``boot_s``: setting the machine's clock does not move them."""

    @property
    def boot_id(self) -> str:
        """Identifies this boot of the machine; ``boot_s`` starts anew with each boot."""

    def boot_s(self) -> float:
        """Seconds since the machine booted, including time spent suspended."""

    def unix_s(self) -> float:
        """Unix time, as far as the machine knows it. For texts and records only."""


class SystemClock:
    """The machine's clocks."""

    def __init__(self) -> None:
        self.boot_id = _BOOT_ID.read_text().strip()

    def boot_s(self) -> float:
        """CLOCK_BOOTTIME."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def unix_s(self) -> float:
        """CLOCK_REALTIME."""
        return time.time()
