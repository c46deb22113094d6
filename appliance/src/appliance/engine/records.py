"""The engine's requests and answers: plain frozen values with a JSON form."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from appliance.config.diff import Change
from appliance.config.edit import Edit
from appliance.engine.backend import SomeBackend, Step
from appliance.engine.own_path import DEFAULT_CONFIRM_S, Caller
from appliance.engine.watching import Watch
from appliance.errors import Problem
from appliance.impact.result import Result, summary
from appliance.state.commit_options import CommitOptions

State = Literal["done", "failed", "running"]
Failure = Literal["validation", "conflict", "not_found", "unavailable", "storage", "step", "cancelled"]
"""Kind of a failed commit; except for ``step`` and ``cancelled``, no step was begun."""


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
        """The form in which a preview, a revision and the journal show it."""
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
    """How it touches the caller's path to the router; then it must be confirmed unless he says otherwise."""
    result: Result = field(default_factory=Result)
    """The effects of its result."""

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
    """The document that ran, with an edit applied."""

    base_revision: int
    base_digest: str
    document: Mapping[str, Any] = field(repr=False)
    """The document to commit: unchanged parts are shared, new secrets are in clear."""
    diff: tuple[Change, ...]


@dataclass(frozen=True)
class CommitRequest:
    """A document to commit over ``base_revision``, or over the running revision when that is None."""

    document: Mapping[str, Any]
    options: CommitOptions
    base_revision: int | None = None
    edit: Edit | None = None
    """The edit that made the document from the running one: it distinguishes the request in its place."""
    match: tuple[str, ...] | None = None
    """The digests that the caller named in place of a revision; then these distinguish the request."""
    mark: str = ""
    """The request's fingerprint, as recorded with its revision; see Engine.commit."""

    @property
    def caller(self) -> Caller | None:
        """Who asks for it."""
        return Caller.at(self.options.caller_address)


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
    """The outcome of a commit."""

    request_id: str
    state: State
    revision: int | None = None
    """The revision it made; the running one when there was nothing to do."""
    steps: tuple[dict[str, str], ...] = ()
    error: CommitError | None = None
    confirm_expires_at: str | None = None
    confirm_reason: str = ""
    """Why it must be confirmed although the request did not ask for it."""
    reopened: tuple[str, ...] = ()
    """A sentence for each thing set up again that the revision before had kept closed."""
    watch_s: float | None = None
    """How long sessions and traffic are watched; None when they are not."""
    rolls_back: bool = False
    """It is rolled back automatically if sessions or traffic get worse."""

    def watched_by(self, watch: Watch | None) -> CommitResult:
        """The same with the watch that began."""
        if watch is None:
            return self
        return replace(self, watch_s=watch.watch_s, rolls_back=watch.rolls_back)

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
    """SHA-256 of its plan and diff; also their place in the store."""

    def to_json(self) -> dict[str, Any]:
        """One line of ``GET /v1/revisions``."""
        return asdict(self)
