"""The requests of callers: typed, bounded, and nothing else."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from appliance.config.edit import Edit
from appliance.state.watch import LONGEST_WATCH_S, SHORTEST_WATCH_S
from frr_config.types import InterfaceName, VrfName

Line = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$", max_length=500)]
"""Text of one line."""
Author = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,150}$")]
RequestId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$")]
IpAddress = IPv4Address | IPv6Address


def _none_or_a_second(seconds: float) -> float:
    if 0 < seconds < 1:
        raise ValueError("is 0 for no timer, or at least 1 second")
    return seconds


def _none_or_long_enough(seconds: float) -> float:
    if 0 < seconds < SHORTEST_WATCH_S:
        raise ValueError(f"is 0 for no watch, or at least {SHORTEST_WATCH_S:.0f} seconds")
    return seconds


ConfirmSeconds = Annotated[float, Field(ge=0, le=86400), AfterValidator(_none_or_a_second)]
"""How long a commit waits for its confirmation; 0 is for ever. Left out: DEFAULT_CONFIRM_S when it touches
the caller's own path, else for ever."""


WatchSeconds = Annotated[float, Field(ge=0, le=LONGEST_WATCH_S), AfterValidator(_none_or_long_enough)]
"""How long sessions and traffic are watched after a commit, which is rolled back when they got worse; 0: not.
Left out: it is watched for DEFAULT_WATCH_S, and not rolled back."""


COMMIT_WAIT_S = 45.0
WaitSeconds = Annotated[float, Field(ge=0, le=COMMIT_WAIT_S)]
"""How long a commit is waited for before the answer is ``running``; it goes on."""


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


class CommitBody(_Request):
    """``POST /v1/commit``."""

    document: dict[str, Any]
    match: Digests | None = None
    author: Author
    base_revision: int | None = Field(default=None, ge=0)
    comment: Line = ""
    confirm_s: ConfirmSeconds | None = None
    watch_s: WatchSeconds | None = None
    request_id: RequestId | None = None
    caller_address: IpAddress | None = None
    wait_s: WaitSeconds = COMMIT_WAIT_S


class EditPlanBody(_Request):
    """``POST /v1/edits/plan``."""

    edit: Edit
    match: Digests | None = None
    caller_address: IpAddress | None = None


class EditCommitBody(_Request):
    """``POST /v1/edits/commit``."""

    edit: Edit
    match: Digests | None = None
    author: Author
    comment: Line = ""
    confirm_s: ConfirmSeconds | None = None
    watch_s: WatchSeconds | None = None
    request_id: RequestId | None = None
    caller_address: IpAddress | None = None
    wait_s: WaitSeconds = COMMIT_WAIT_S


class RollbackBody(_Request):
    """``POST /v1/rollback``."""

    revision: int = Field(ge=0)
    author: Author
    comment: Line = ""
    confirm_s: ConfirmSeconds | None = None
    watch_s: WatchSeconds | None = None
    request_id: RequestId | None = None
    caller_address: IpAddress | None = None
    wait_s: WaitSeconds = COMMIT_WAIT_S


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
