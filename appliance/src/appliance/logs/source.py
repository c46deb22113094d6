"""Where log lines come from: what journald and files have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from appliance.errors import RouterUnavailable
from appliance.state.logs import SEVERITIES, LogLine, Severity

MOST_LOOKED_AT = 5000
"""Lines that are looked at for one page, whatever is searched for."""


class LogUnavailable(RouterUnavailable):
    """The logs cannot be read; the message says why."""


@dataclass(frozen=True)
class Wanted:
    """Which lines. ``parts`` are those that are to be read."""

    parts: tuple[str, ...]
    limit: int
    fits: Callable[[LogLine], bool]


@dataclass(frozen=True)
class Found:
    """Lines, the oldest first."""

    lines: tuple[LogLine, ...]
    newest: str
    """Behind everything that was looked at."""
    oldest: str | None
    """Before it; None at the beginning of the log."""
    more: bool = False
    """Whether there is something behind ``newest`` already."""


class LogSource(Protocol):
    """The logs of one machine. All may raise LogUnavailable; a page costs a bounded number of bytes."""

    def parts(self) -> tuple[str, ...]:
        """Parts that there are logs of."""

    def latest(self, wanted: Wanted) -> Found:
        """The newest lines."""

    def after(self, wanted: Wanted, cursor: str) -> Found:
        """Lines after a page's newest, the oldest of them."""

    def before(self, wanted: Wanted, cursor: str) -> Found:
        """Lines before a page's oldest, the newest of them."""


def at_least(severity: Severity | None, least: Severity | None) -> bool:
    """Whether a line is as severe; one that does not say is not."""
    if least is None:
        return True
    return severity is not None and SEVERITIES.index(severity) >= SEVERITIES.index(least)
