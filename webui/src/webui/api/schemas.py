"""Shapes of the API's own answers; those of the configuration come from its models."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from ninja import Schema
from pydantic import ConfigDict, Field

from appliance.client import Result
from webui.changes.closing import expires_at


class Strict(Schema):
    """A body: what it does not name is an error."""

    model_config = ConfigDict(extra="forbid")


class Difference(Schema):
    """One difference between two documents; secrets are masked."""

    op: Literal["add", "remove", "replace"]
    path: str = Field(description="JSON pointer (RFC 6901).")
    before: Any = None
    after: Any = None


class Step(Schema):
    """One step of a commit."""

    backend: str = Field(description="vpp, linux, frr or host.")
    phase: str = Field(description="withdraw, detach, delete, create, attach or announce.")
    summary: str
    undo_summary: str
    impact: str = Field(description="none, or what the step disturbs.")
    path: str = Field(description="JSON pointer of the object it serves; may be empty.")


class ProblemEntry(Schema):
    """One thing wrong with a document."""

    pointer: str
    message: str


class ConflictEntry(Schema):
    """A place changed by the change set and by the running configuration."""

    path: str
    base: Any = None
    ours: Any = None
    theirs: Any = None


class PreviewOut(Schema):
    """What a commit would do now."""

    base_revision: int
    diff: list[Difference]
    steps: list[Step]
    frr_diff: list[str]
    impacts: list[str] = Field(description="What its steps disturb while they are made.")
    result: Result | None = Field(
        description="What it does once it is made, and what was looked at; null when it would be refused."
    )
    summary: list[str] = Field(description="Both in sentences; none when it would be refused.")
    own_path: list[str] = Field(description="How it affects the way you reach the router.")
    confirm_default_s: float | None = Field(
        description="A commit without `confirm_s` is undone after this many seconds unless confirmed."
    )
    problems: list[ProblemEntry]
    conflicts: list[ConflictEntry]


class ChangeSetOut(Schema):
    """A change set."""

    id: int
    owner: str
    title: str
    state: Literal["open", "committed", "discarded"]
    base_revision: int
    version: int = Field(description="Raised by every edit.")
    digest: str = Field(description="ETag of the candidate.")
    created_at: datetime
    updated_at: datetime
    committed_revision: int | None
    is_empty: bool
    note: str = Field(description="Why it was closed, where nobody asked for it.")
    expires_at: datetime | None = Field(description="Discarded then unless edited before; null when closed.")

    @staticmethod
    def resolve_owner(row: Any) -> str:
        """The owner's login name."""
        return str(row.owner.username)

    @staticmethod
    def resolve_expires_at(row: Any) -> datetime | None:
        """When nobody edits it."""
        return expires_at(row)


class RevisionOut(Schema):
    """One line of the history."""

    number: int
    digest: str
    author: str
    comment: str
    time: datetime
    impact: str | None = Field(description="null where the router went back as a whole, without a plan.")
    steps_count: int | None = Field(description="null like impact.")
    result: str


class JobOut(Schema):
    """Something that takes a while."""

    id: UUID
    kind: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    owner: str
    arguments: dict[str, Any]
    progress: int = Field(ge=0, le=100, description="Percent.")
    log: str
    result: dict[str, Any] | None
    error: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @staticmethod
    def resolve_owner(row: Any) -> str:
        """The owner's login name."""
        return str(row.owner.username)


class UserOut(Schema):
    """A user."""

    id: int
    username: str
    role: Literal["viewer", "operator", "engineer", "admin"]
    is_active: bool
    created_at: datetime
    last_login: datetime | None


class TokenOut(Schema):
    """An API token, without its secret."""

    id: int
    user: str
    name: str
    prefix: str
    write: bool
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    is_usable: bool

    @staticmethod
    def resolve_user(row: Any) -> str:
        """The login name of its user."""
        return str(row.user.username)


class AuditOut(Schema):
    """One entry of the audit log."""

    id: int
    time: datetime
    username: str
    address: str
    via: str
    action: str
    target: str
    changes: list[Difference]
    result: str
    detail: str
