"""The router and the caller at a glance."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import BaseModel, ConfigDict, Field

from appliance.state.commits import CommitsUnderWay
from appliance.state.watch import WatchReport
from webui import __version__
from webui.accounts.roles import Role
from webui.agent import agent
from webui.alarms import with_own
from webui.api.auth import actor, needs
from webui.api.schemas import UserOut
from webui.storage.usage import usage

router = Router(tags=["status"])


class PendingConfirm(BaseModel):
    """A commit that is undone unless confirmed."""

    model_config = ConfigDict(extra="allow")

    revision: int
    expires_at: str | float
    seconds_left: float
    rollback_to: int
    reason: str
    """Why, when nobody asked for it; else empty."""


class StatusOut(BaseModel):
    """The agent's view of the router."""

    model_config = ConfigDict(extra="allow")

    version: str
    dataplane: str
    capabilities: dict[str, Any]
    revision: int
    digest: str
    pending_confirm: PendingConfirm | None
    watch: WatchReport | None = Field(
        None, description="What the watch after the last commit sees; null when none goes on."
    )
    commits: CommitsUnderWay | None = Field(
        None, description="The commit that runs, and those that wait for their turn."
    )
    drift: list[Any]
    waiting: list[str] = []
    """Parts of the router that are not yet back at the running revision, after a rollback or a crash."""
    health: dict[str, Any]
    alarms: dict[str, Any] = Field(
        default_factory=dict,
        description="Of the alarms that stand `counts` by severity, `worst`, `looked_s_ago` and `unchecked`.",
    )
    damage: list[str] = Field(
        default_factory=list,
        description="Recorded state that cannot be read: what runs instead, and what to do.",
    )
    storage: dict[str, dict[str, int]] = Field(
        default_factory=dict,
        description="Room on the disk by kind of what is kept: `used_bytes`, `quota_bytes` and a count.",
    )
    web_version: str


class Me(Schema):
    """Who calls, and how far the call may go."""

    user: UserOut
    via: str
    write: bool


@router.get("/status", auth=needs(Role.VIEWER), response=StatusOut, operation_id="get_status")
def get_status(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """Versions, running revision, a commit that waits for confirmation, drift and health."""
    return {**with_own(agent().status()), "web_version": __version__}


class StoredKind(Schema):
    """One kind of stored thing."""

    kind: str
    rows: int
    most_rows: int | None = Field(description="The oldest go past that; null where something else bounds it.")
    payload_bytes: int = Field(description="Text of its large columns; 0 where rows are small.")
    most_bytes: int | None
    kept: str = Field(description="For how long.")
    bounded_by: str


class Storage(Schema):
    """What the web half keeps in its database."""

    measured_at: datetime
    database_bytes: int
    kinds: list[StoredKind]


@router.get("/storage", auth=needs(Role.VIEWER), response=Storage, operation_id="get_storage")
def get_storage(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """Rows and bytes of everything the web half keeps, and their limits; some minutes old."""
    return usage()


@router.get("/me", auth=needs(Role.VIEWER), response=Me, operation_id="get_me")
def get_me(request: HttpRequest) -> Any:
    """The user of this token or session."""
    who = actor(request)
    return {"user": who.user, "via": who.via, "write": who.write}
