"""The requests of callers: typed, bounded, and nothing else."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from appliance.config.edit import Edit
from appliance.state.commit_options import Author, CommitOptions
from frr_config.types import InterfaceName, VrfName

IpAddress = IPv4Address | IPv6Address
Digest = Annotated[str, StringConstraints(max_length=256)]
Digests = Annotated[tuple[Digest, ...], Field(max_length=1000)]
"""The running document has to be one of these, or the answer is 412. Left out: whatever runs."""


class _Request(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DocumentRequest(_Request):
    """A document to be sealed, validated or planned."""

    document: dict[str, Any]


class CheckBody(DocumentRequest):
    """``POST /v1/check``."""

    seal: bool = False
    """Secrets of it may be in clear."""
    known: Digest | None = None
    """Digest of the running document that need not be sent."""


class ConfigQuery(_Request):
    """``GET /v1/config``. ``known``: digest of the document that need not be sent."""

    known: Digest | None = None


class PlanBody(DocumentRequest):
    """``POST /v1/plan``."""

    match: Digests | None = None
    caller_address: IpAddress | None = None
    """Whence the commit would be asked for; left out at the router's own console."""


class CommitBody(CommitOptions):
    """``POST /v1/commit``."""

    document: dict[str, Any] = Field(repr=False)
    match: Digests | None = None
    base_revision: int | None = Field(default=None, ge=0)


class EditPlanBody(_Request):
    """``POST /v1/edits/plan``."""

    edit: Edit
    match: Digests | None = None
    caller_address: IpAddress | None = None


class EditCommitBody(CommitOptions):
    """``POST /v1/edits/commit``."""

    edit: Edit = Field(repr=False)
    match: Digests | None = None


class RollbackBody(CommitOptions):
    """``POST /v1/rollback``."""

    revision: int = Field(ge=0)


class ConfirmBody(_Request):
    """``POST /v1/confirm``, ``POST /v1/keep`` and ``POST /v1/commits/ID/cancel``."""

    author: Author


class ActionBody(_Request):
    """``POST /v1/actions/NAME``. ``question`` is the action's own."""

    author: Author
    question: dict[str, Any] = {}


class RevisionsQuery(_Request):
    """``GET /v1/revisions``."""

    limit: int = Field(default=50, ge=1, le=1000)
    before: int | None = Field(default=None, ge=1)


class SelectionQuery(_Request):
    """``GET /v1/counters`` and its stream: comma separated lists, see `appliance.state.counter_selection`."""

    fields: Annotated[str, StringConstraints(max_length=200)] | None = None
    interfaces: Annotated[str, StringConstraints(max_length=1100)] | None = None


class HistoryQuery(SelectionQuery):
    """``GET /v1/counters/history``."""

    seconds: int = Field(default=300, ge=1, le=3600)


class PingBody(_Request):
    """``POST /v1/tools/ping``. ``size`` is the payload in bytes."""

    destination: IpAddress
    count: int = Field(default=5, ge=1, le=20)
    source: IpAddress | InterfaceName | None = None
    size: int | None = Field(default=None, ge=0, le=9000)
    vrf: VrfName | None = None


class TracerouteBody(_Request):
    """``POST /v1/tools/traceroute``."""

    destination: IpAddress
    source: IpAddress | None = None
    vrf: VrfName | None = None
