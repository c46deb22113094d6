"""The results of the services of change sets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from appliance.client import Result
from appliance.config.diff import Change
from appliance.config.merge import MergeConflict
from appliance.errors import Problem
from appliance.state.commits import PlanStep


@dataclass(frozen=True)
class Preview:
    """The effect that a commit would have now. With ``problems`` or ``conflicts`` it would be refused."""

    base_revision: int
    diff: tuple[Change, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    frr_diff: tuple[str, ...] = ()
    impacts: tuple[str, ...] = ()
    result: Result | None = None
    """Its effect once committed; None when it would be refused."""
    summary: tuple[str, ...] = ()
    """Steps and result in sentences; none when it would be refused."""
    own_path: tuple[str, ...] = ()
    """Its effect on the user's own path to the router: if any, the commit has to be confirmed by default."""
    confirm_default_s: float | None = None
    """The time for that, unless the commit says otherwise; None when no confirmation is needed."""
    problems: tuple[Problem, ...] = ()
    conflicts: tuple[MergeConflict, ...] = ()


@dataclass(frozen=True)
class Revision:
    """One line of the history."""

    number: int
    digest: str
    author: str
    comment: str
    time: datetime
    impact: str | None
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
