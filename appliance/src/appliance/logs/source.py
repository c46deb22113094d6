"""The source of log lines: the part common to journald and files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from appliance.errors import RouterUnavailable
from appliance.state.logs import SEVERITIES, LogLine, Severity

MOST_LOOKED_AT = 5000
"""How many lines are examined for one page, whatever the search."""


class LogUnavailable(RouterUnavailable):
    """The logs cannot be read; the message says why."""


@dataclass(frozen=True)
class Wanted:
    """Selects lines. ``parts`` are those to read."""

    parts: tuple[str, ...]
    limit: int
    fits: Callable[[LogLine], bool]


@dataclass(frozen=True)
class Found:
    """Lines, the oldest first."""

    lines: tuple[LogLine, ...]
    newest: str
    """The cursor behind everything examined."""
    oldest: str | None
    """The cursor before it; None at the beginning of the log."""
    more: bool = False
    """Whether there already are lines behind ``newest``."""


class LogSource(Protocol):
    """The logs of one machine. All may raise LogUnavailable; a page costs a bounded number of bytes."""

    def parts(self) -> tuple[str, ...]:
        """Parts that have logs."""

    def latest(self, wanted: Wanted) -> Found:
        """The newest lines."""

    def after(self, wanted: Wanted, cursor: str) -> Found:
        """Lines after a page's newest, the oldest of them."""

    def before(self, wanted: Wanted, cursor: str) -> Found:
        """Lines before a page's oldest, the newest of them."""


def at_least(severity: Severity | None, least: Severity | None) -> bool:
    """Whether a line is at least this severe; one without a severity is not."""
    if least is None:
        return True
    return severity is not None and SEVERITIES.index(severity) >= SEVERITIES.index(least)
