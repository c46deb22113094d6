"""What the engine takes and gives: plain frozen values with a JSON form."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from appliance.config.diff import Change
from appliance.config.edit import Edit
from appliance.engine.backend import SomeBackend, Step
from appliance.engine.own_path import DEFAULT_CONFIRM_S, Caller
from appliance.errors import Problem
from appliance.impact.result import Result, summary

State = Literal["done", "failed", "running"]
Failure = Literal["validation", "conflict", "not_found", "unavailable", "storage", "step", "cancelled"]
"""Kind of a failed commit; for all but ``step`` and ``cancelled`` nothing was begun."""


def timestamp(unix_s: float | None = None) -> str:
    """Time as ISO 8601 text in UTC with milliseconds; now when none is given."""
    moment = datetime.fromtimestamp(time.time() if unix_s is None else unix_s, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True)
class PlannedStep:
    """A step and the backend that will make it."""

    backend: SomeBackend
    step: Step

    def to_json(self) -> dict[str, str]:
        """As a preview, a revision and the journal show it."""
        return {
            "backend": self.backend.name,
            "phase": self.step.phase,
            "summary": self.step.summary,
            "undo_summary": self.step.undo_summary,
            "impact": self.step.impact,
            "path": self.step.path,
        }


def impacts(steps: Sequence[PlannedStep]) -> list[str]:
    """The distinct impacts of these steps, in their order, without ``none``."""
    return list(dict.fromkeys(planned.step.impact for planned in steps if planned.step.impact != "none"))


@dataclass(frozen=True)
class Preview:
    """What a commit of a document would do now."""

    base_revision: int
    diff: tuple[Change, ...]
    steps: tuple[PlannedStep, ...]
    frr_diff: tuple[str, ...]
    own_path: tuple[str, ...] = ()
    """How it touches the caller's way to the router: then it is to be confirmed unless he says otherwise."""
    result: Result = field(default_factory=Result)
    """What it does once it is made."""

    def to_json(self) -> dict[str, Any]:
        """The answer of ``POST /v1/plan``."""
        return {
            "base_revision": self.base_revision,
            "diff": [vars(change) for change in self.diff],
            "steps": [planned.to_json() for planned in self.steps],
            "frr_diff": list(self.frr_diff),
            "impacts": impacts(self.steps),
            "result": self.result.model_dump(mode="json"),
            "summary": summary(self.result, impacts(self.steps)),
            "own_path": list(self.own_path),
            "confirm_default_s": DEFAULT_CONFIRM_S if self.own_path else None,
        }


@dataclass(frozen=True)
class Edited:
    """The document that ran, after an edit."""

    base_revision: int
    base_digest: str
    document: Mapping[str, Any] = field(repr=False)
    """As it is committed: what did not change is shared, new secrets are in clear."""
    diff: tuple[Change, ...]


@dataclass(frozen=True)
class CommitRequest:
    """A document to be committed over ``base_revision``, or over whatever runs when that is None."""

    document: Mapping[str, Any]
    author: str
    comment: str = ""
    base_revision: int | None = None
    confirm_s: float | None = None
    """Roll back after this many seconds unless confirmed; 0 never. None: after DEFAULT_CONFIRM_S when it
    touches the caller's own path, else never."""
    watch_s: float | None = None
    """Watch sessions and traffic for so long, and roll back when they got worse; 0: do not. None: watch for
    DEFAULT_WATCH_S, and only say what happened."""
    request_id: str | None = None
    """Makes the request idempotent and its result findable."""
    caller: Caller | None = None
    edit: Edit | None = None
    """What made the document of the one that ran: it tells the request apart from others in its place."""
    match: tuple[str, ...] | None = None
    """The digests that the caller named in place of a revision: these tell the request apart, then."""
    mark: str = ""
    """What tells it apart, as it is recorded with its revision; see Engine.commit."""


@dataclass(frozen=True)
class CommitError:
    """Why a commit failed. ``step`` is the summary of the step, or the stage when no step was begun."""

    step: str
    message: str
    kind: Failure = "step"
    undone: bool = True
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class CommitResult:
    """What became of a commit."""

    request_id: str
    state: State
    revision: int | None = None
    """The revision it made; the running one when nothing had to be done."""
    steps: tuple[dict[str, str], ...] = ()
    error: CommitError | None = None
    confirm_expires_at: str | None = None
    confirm_reason: str = ""
    """Why it is to be confirmed without having been asked for."""
    reopened: tuple[str, ...] = ()
    """What it set up again that the revision before had kept closed, a sentence each."""
    watch_s: float | None = None
    """How long sessions and traffic are watched; None when it is not."""
    rolls_back: bool = False
    """It is rolled back automatically if sessions or traffic get worse."""

    def to_json(self) -> dict[str, Any]:
        """The answer of ``POST /v1/commit``, and the job's file."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CommitResult:
        """The inverse of ``to_json``."""
        error = data.get("error")
        return cls(
            request_id=data["request_id"],
            state=data["state"],
            revision=data.get("revision"),
            steps=tuple(data.get("steps", ())),
            error=None
            if error is None
            else CommitError(
                step=error["step"],
                message=error["message"],
                kind=error.get("kind", "step"),
                undone=error.get("undone", True),
                problems=tuple(Problem(**problem) for problem in error.get("problems", ())),
            ),
            confirm_expires_at=data.get("confirm_expires_at"),
            confirm_reason=data.get("confirm_reason", ""),
            reopened=tuple(data.get("reopened", ())),
            watch_s=data.get("watch_s"),
            rolls_back=bool(data.get("rolls_back", False)),
        )


@dataclass(frozen=True)
class Revision:
    """One commit, without its document, plan and diff."""

    revision: int
    digest: str
    """SHA-256 of the sealed canonical document; also its place in the store."""
    author: str
    comment: str
    time: str
    impact: str
    """``none``, or the distinct impacts of its steps joined by ``; ``."""
    steps_count: int
    result: str
    base_revision: int
    request_id: str
    confirm_s: float | None
    details: str
    """SHA-256 of its plan and diff, their place in the store."""

    def to_json(self) -> dict[str, Any]:
        """One line of ``GET /v1/revisions``."""
        return asdict(self)
