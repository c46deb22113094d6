"""Whether a daemon runs, and since when."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_PROC = Path("/proc")
_START_TIME_FIELD = 19
"""Index in ``/proc/PID/stat`` after the command name (proc(5): field 22)."""


@dataclass(frozen=True, slots=True)
class DaemonHealth:
    """One daemon."""

    running: bool
    """It answers on its socket."""
    version: str
    """``8.4``; empty when it does not answer."""
    uptime_s: float | None
    """Seconds since its process started; None where that cannot be read."""
    answer_s: float | None
    """Seconds it took to answer."""

    def to_json(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def process_uptime_s(pid_file: Path) -> float | None:
    """Seconds since the process in a pid file started, or None."""
    try:
        pid = int(pid_file.read_text())
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        now_s = float((_PROC / "uptime").read_text().split()[0])
    except (OSError, ValueError):
        return None
    return max(0.0, now_s - int(fields[_START_TIME_FIELD]) / os.sysconf("SC_CLK_TCK"))
