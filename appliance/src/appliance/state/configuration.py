"""What the agent tells of documents and revisions beside the documents themselves."""

from __future__ import annotations

from typing import Any

from appliance.config.diff import Change
from appliance.errors import Problem
from appliance.state.part import Answer


class RecordedRevision(Answer):
    """A revision that a commit made, without its document."""

    revision: int
    digest: str
    author: str
    comment: str = ""
    time: str
    """ISO 8601, UTC."""
    impact: str = ""
    steps_count: int = 0
    result: str = "done"
    base_revision: int
    """The one that ran before."""
    base_digest: str
    """Of the document of that; empty for revision 0."""


class RunningConfig(Answer):
    """The document that runs."""

    revision: int
    digest: str
    size_bytes: int = 0
    """Of its JSON text, about."""
    document: dict[str, Any] | None = None
    """Canonical; secrets sealed. None for who knows it by its digest."""


class CheckedDocument(Answer):
    """A canonical document that somebody edits, as the agent finds it."""

    document: dict[str, Any] | None = None
    """With its secrets sealed; None where they were."""
    digest: str | None
    """None for what is no JSON."""
    problems: tuple[Problem, ...] = ()
    """What would stop a commit."""
    running: RunningConfig


class EditPlan(Answer):
    """What a commit of an edit of the running document would do."""

    base_revision: int
    """The one that runs."""
    plan: dict[str, Any] | None = None
    """As ``POST /v1/plan`` answers; None where it would be refused."""
    diff: tuple[Change, ...] = ()
    """What it would change, where it would be refused; secrets masked."""
    problems: tuple[Problem, ...] = ()
    """Why it would be refused."""
