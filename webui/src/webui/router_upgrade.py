"""Upgrades of the router, sent to its agent and recorded in the audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from appliance.errors import MillraceError
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.roles import Role
from webui.agent import agent

MAX_PART_BYTES = 16 * 1024 * 1024
"""The largest part that the agent accepts."""
MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024


def state() -> dict[str, Any]:
    """Slots, upload, progress and the last attempt."""
    return agent().upgrade()


def send_part(actor: Actor, data: bytes, offset: int, size: int) -> dict[str, Any]:
    """Append a part of an upgrade file of `size` bytes. The first part and a refused one are in the audit
    log.

    Raises Conflict when the file is unsuitable or another part is due.
    """
    actor.require(Role.ADMIN)
    try:
        answer = agent().upgrade_part(data, offset, size)
    except MillraceError as error:
        audit.record(actor, "upgrade.send", f"at {offset}", result="failed", detail=str(error))
        raise
    if offset == 0:
        audit.record(actor, "upgrade.send", detail=f"{size} bytes")
    return answer


def forget(actor: Actor) -> None:
    """Remove the file that was sent."""
    _audited(actor, "upgrade.forget", "", agent().forget_upgrade)


def install(
    actor: Actor, reboot: bool, deadline_s: float | None, allow_downgrade: bool = False
) -> dict[str, Any]:
    """Write the file into the other slot and boot it. Raises NotFound, Conflict."""
    version = str((agent().upgrade().get("upload") or {}).get("version", ""))
    _audited(
        actor,
        "upgrade.install",
        f"{version}, downgrade allowed" if allow_downgrade else version,
        lambda: agent().install_upgrade(
            author=actor.name, reboot=reboot, deadline_s=deadline_s, allow_downgrade=allow_downgrade
        ),
    )
    return state()


def switch(actor: Actor, deadline_s: float | None, allow_downgrade: bool = False) -> dict[str, Any]:
    """Boot the other slot as it is. Raises NotFound, Conflict."""
    _audited(
        actor,
        "upgrade.switch",
        "downgrade allowed" if allow_downgrade else "",
        lambda: agent().switch_slot(
            author=actor.name, deadline_s=deadline_s, allow_downgrade=allow_downgrade
        ),
    )
    return state()


def _audited(actor: Actor, action: str, target: str, act: Callable[[], None]) -> None:
    actor.require(Role.ADMIN)
    try:
        act()
    except MillraceError as error:
        audit.record(actor, action, target, result="failed", detail=str(error))
        raise
    audit.record(actor, action, target)
