"""A check reads part of the router's state, cheaply, and judges the reading, purely."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from appliance.config.document import RouterConfig
from appliance.state.alarms import Severity

if TYPE_CHECKING:
    from appliance.agent.router import Router

R = TypeVar("R")
UNDER_WAY_S = 8.0
"""Patience for differences while a commit or a repair is under way."""
Key = tuple[str, str]
"""Kind and object of an alarm: there is one alarm of each at a time."""


@dataclass(frozen=True)
class Finding:
    """Something wrong, as one look found it. Texts may hold what other routers said: show them escaped."""

    kind: str
    object: str
    severity: Severity
    summary: str
    """One sentence without a full stop."""
    advice: str
    """What to do, in sentences."""
    evidence: Mapping[str, str] = field(default_factory=dict)
    pointer: str = ""
    """JSON pointer of the object in the document."""
    for_s: float | None = None
    """How long it has been so, where the router itself says; else it began when it was first seen."""
    patience_s: float = 0.0
    """It is normal for so long, as while a commit is under way: an alarm only when it is found for longer."""

    @property
    def key(self) -> Key:
        """The fields that distinguish it from others."""
        return self.kind, self.object


@dataclass(frozen=True)
class Look(Generic[R]):
    """The input of a check's judgement."""

    now: R
    config: RouterConfig
    before: R | None = None
    """The previous reading; None at the first look."""
    elapsed_s: float = 0.0
    """Between the two readings."""
    standing: Mapping[Key, float] = field(default_factory=dict)
    """The check's own current alarms, and for how many seconds each has stood."""


def _always(_config: RouterConfig) -> bool:
    return True


@dataclass(frozen=True)
class Check(Generic[R]):
    """One check. A feature declares its own in ``CHECKS`` of its ``health.py``."""

    name: str
    """In words: ``links``, ``drops``."""
    reads: Callable[[Router], R]
    """Called every few seconds, in a thread of its own: it may read only what is cheap at any table size, and
    holds up neither zebra nor a commit. Raises MillraceError when it cannot be read."""
    judges: Callable[[Look[R]], Iterable[Finding]]
    """Pure."""
    concerns: Callable[[RouterConfig], bool] = _always
    """Whether there is anything to check under this document; if not, nothing is read."""
    mends: Callable[[Router, Look[R]], None] | None = None
    """Repairs what the router can mend on its own, as soon as found: short work. Raises MillraceError."""


AnyCheck = Check[Any]
