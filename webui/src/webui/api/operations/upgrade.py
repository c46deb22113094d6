"""Upgrades of the router: the file in parts, the request, and how far it is."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import BaseModel, ConfigDict, Field

from webui import router_upgrade
from webui.accounts.roles import Role
from webui.api.auth import actor, needs
from webui.api.bodies import media_type
from webui.api.schemas import Strict
from webui.errors import RequestProblem
from webui.router_upgrade import MAX_FILE_BYTES, MAX_PART_BYTES

router = Router(tags=["upgrade"])
_MEDIA_TYPE = "application/octet-stream"
Slot = Literal["a", "b"]
Offset = Annotated[int, Query(ge=0, lt=MAX_FILE_BYTES, description="Where the part goes, in bytes.")]
Size = Annotated[int, Query(gt=0, le=MAX_FILE_BYTES, description="Bytes of the whole file.")]


class _Shown(BaseModel):
    model_config = ConfigDict(extra="allow")


class SlotContent(_Shown):
    """What a slot holds."""

    version: str
    schema_version: int = Field(description="Newest schema of the configuration that it reads.")
    whole: bool = Field(description="False while it is written, or after that failed.")
    older: bool = Field(
        False, description="Older than the running version, or of an unknown age: see `allow_downgrade`."
    )


class SlotsOut(_Shown):
    """The two system slots."""

    running: Slot
    good: Slot = Field(description="Booted by default.")
    next: Slot | None = Field(description="Booted next, once.")
    on_trial: bool = Field(description="The running slot is not trusted yet.")
    contents: dict[str, SlotContent]


class UploadOut(_Shown):
    """The upgrade file that was sent; its signature is good."""

    version: str
    commit: str
    dataplane: str
    schema_version: int
    older: bool = Field(False, description="Older than the running version: see `allow_downgrade`.")


class ProgressOut(_Shown):
    """How far the upgrade is."""

    state: Literal["starting", "checking", "writing", "verifying", "ready", "rebooting", "failed"]
    percent: int
    detail: str


class AttemptOut(_Shown):
    """The last boot of another slot, and what became of it."""

    version: str | None
    slot: Slot
    from_slot: Slot
    author: str
    started_at: str
    outcome: Literal["pending", "kept", "returned"]
    reason: str = Field(description="Why it was returned from.")
    ended_at: str | None


class UpgradeOut(_Shown):
    """Upgrades as they stand. Without slots, as in a lab, only `available` and `reason`."""

    available: bool
    reason: str = Field(description="Why this router cannot be upgraded this way.")
    slots: SlotsOut | None = None
    upload: UploadOut | None = None
    progress: ProgressOut | None = None
    attempt: AttemptOut | None = None


class PartOut(_Shown):
    """How much of the file is there."""

    received_bytes: int
    size_bytes: int
    manifest: UploadOut | None = Field(description="Known from the first part on.")


class SwitchIn(Strict):
    """Boot the other slot as it is."""

    deadline_s: float | None = Field(
        None, ge=60, le=3600, description="Seconds it has to become healthy; by default 600."
    )
    allow_downgrade: bool = Field(
        False, description="Boot a version that is older than the running one; refused otherwise."
    )


class InstallIn(SwitchIn):
    """Write the file that was sent into the other slot."""

    reboot: bool = Field(True, description="Boot it at once. If not, `switch` does.")


@router.get("/upgrade", auth=needs(Role.VIEWER), response=UpgradeOut, operation_id="get_upgrade")
def get_upgrade(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """Slots, the file that was sent, progress, and what became of the last upgrade."""
    return router_upgrade.state()


@router.put(
    "/upgrade/file",
    auth=needs(Role.ADMIN),
    response=PartOut,
    operation_id="send_upgrade_part",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {_MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
def send_upgrade_part(request: HttpRequest, offset: Offset, size: Size) -> Any:
    """Send a part of an upgrade file, at most 16 MiB, in order; offset 0 begins anew."""
    if media_type(request) != _MEDIA_TYPE:
        raise RequestProblem(415, f"The body has to be {_MEDIA_TYPE}.")
    data = request.body
    if len(data) > MAX_PART_BYTES:
        raise RequestProblem(413, f"A part has at most {MAX_PART_BYTES} bytes.")
    return router_upgrade.send_part(actor(request), data, offset, size)


@router.delete("/upgrade/file", auth=needs(Role.ADMIN), response={204: None}, operation_id="forget_upgrade")
def forget_upgrade(request: HttpRequest) -> Any:
    """Remove the upgrade file that was sent."""
    router_upgrade.forget(actor(request))
    return Status(204, None)


@router.post(
    "/upgrade/install",
    auth=needs(Role.ADMIN),
    response={202: UpgradeOut},
    operation_id="install_upgrade",
)
def install_upgrade(request: HttpRequest, body: InstallIn) -> Any:
    """Write the file into the other slot and boot it, once; it stays when it is healthy."""
    return Status(
        202, router_upgrade.install(actor(request), body.reboot, body.deadline_s, body.allow_downgrade)
    )


@router.post(
    "/upgrade/switch", auth=needs(Role.ADMIN), response={202: UpgradeOut}, operation_id="switch_slot"
)
def switch_slot(request: HttpRequest, body: SwitchIn) -> Any:
    """Boot the other slot as it is, once; it stays when it is healthy."""
    return Status(202, router_upgrade.switch(actor(request), body.deadline_s, body.allow_downgrade))
