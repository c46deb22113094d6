"""What the services of change sets return."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from appliance.client import Result
from appliance.config.diff import Change
from appliance.config.merge import MergeConflict
from appliance.errors import Problem
from appliance.state.commits import CommitUnderWay


@dataclass(frozen=True)
class PlanStep:
    """One step of a commit, as the agent planned it."""

    backend: str
    phase: str
    summary: str
    undo_summary: str
    impact: str
    path: str


@dataclass(frozen=True)
class Preview:
    """What a commit would do now. With ``problems`` or ``conflicts`` it would be refused."""

    base_revision: int
    diff: tuple[Change, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    frr_diff: tuple[str, ...] = ()
    impacts: tuple[str, ...] = ()
    result: Result | None = None
    """What it does once it is made; None when it would be refused."""
    summary: tuple[str, ...] = ()
    """Steps and result in sentences; none when it would be refused."""
    own_path: tuple[str, ...] = ()
    """How it touches the way by which the asker reaches the router: then it is to be confirmed by default."""
    confirm_default_s: float | None = None
    """The time for that, unless the commit says otherwise; None when it is kept without."""
    problems: tuple[Problem, ...] = ()
    conflicts: tuple[MergeConflict, ...] = ()


@dataclass(frozen=True)
class CommitOutcome:
    """What became of a commit. ``running`` means: ask ``outcome(request_id)`` later."""

    request_id: str
    state: Literal["done", "failed", "running"]
    revision: int | None = None
    steps: tuple[PlanStep, ...] = ()
    error: dict[str, Any] | None = None
    confirm_expires_at: str | None = None
    confirm_reason: str = ""
    """Why it is to be confirmed although nobody asked for that."""
    reopened: tuple[str, ...] = ()
    """What it set up again that the revision before had kept closed, a sentence each."""
    watch_s: float | None = None
    """How long sessions and traffic are watched; None when it is not."""
    rolls_back: bool = False
    """It is rolled back automatically if sessions or traffic get worse."""
    progress: CommitUnderWay | None = None
    """How far it is while it is ``running``."""


@dataclass(frozen=True)
class Revision:
    """One line of the history."""

    number: int
    digest: str
    author: str
    comment: str
    time: datetime
    impact: str
    steps_count: int | None
    result: str


@dataclass(frozen=True)
class Page:
    """A part of a longer list."""

    items: list[Revision]
    total: int


def steps_of(items: Any) -> tuple[PlanStep, ...]:
    """Steps from the agent's JSON."""
    names = ("backend", "phase", "summary", "undo_summary", "impact", "path")
    return tuple(PlanStep(**{name: str(item.get(name, "")) for name in names}) for item in items or ())
