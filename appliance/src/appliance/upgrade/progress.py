"""The progress of an upgrade, in a file that the service writes and the agent reads."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from appliance.engine import durable

State = Literal["starting", "checking", "writing", "verifying", "ready", "rebooting", "failed"]


class Progress(BaseModel):
    """One moment of an upgrade."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    state: State
    percent: int
    """Of all the work until the reboot."""
    detail: str


_SHARE: dict[State, tuple[int, int]] = {"checking": (0, 10), "writing": (10, 80), "verifying": (80, 98)}
"""Where each state's work begins and ends, percent."""


def of_work(state: State, done: int, whole: int) -> Progress:
    """Progress within a state; ``done`` and ``whole`` in bytes."""
    first, last = _SHARE[state]
    percent = first + (last - first) * done // max(whole, 1)
    return Progress(state=state, percent=percent, detail=f"{done >> 20} of {whole >> 20} MiB")


def read(path: Path) -> Progress | None:
    """The progress; None when nothing was done since the boot."""
    try:
        return Progress.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


class Reporter:
    """Writes progress, once for each percent."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: Progress | None = None

    def say(self, progress: Progress) -> None:
        """Write it if it has changed. Raises OSError."""
        last = self._last
        if last is not None and (last.state, last.percent) == (progress.state, progress.percent):
            return
        self._last = progress
        durable.make_folder(self._path.parent, 0o700)
        # In the run directory: it need not survive a power cut, only be whole.
        durable.write_whole(self._path, progress.model_dump_json().encode())
