"""The audit log: stored, and written as one structured log line."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Literal

from appliance.config.diff import Change
from webui.accounts.actor import Actor
from webui.accounts.bounded_changes import MAX_CHANGES, bounded
from webui.accounts.models import AuditEntry

Result = Literal["done", "failed", "refused"]

_log = logging.getLogger("webui.audit")


def record(
    actor: Actor,
    action: str,
    target: str = "",
    changes: Iterable[Change] = (),
    result: Result = "done",
    detail: str = "",
) -> AuditEntry:
    """Append one entry. `changes` come from `diff_documents`, which masks secrets."""
    return _append(actor.name, actor.address, actor.via, action, target, changes, result, detail)


def record_login(username: str, address: str, action: str, result: Result, detail: str = "") -> AuditEntry:
    """Append a login or logout; an attempted name may be any text, and is cut."""
    return _append(username, address, "page", action, "", (), result, detail)


def record_command_line(author: str, action: str, target: str, result: Result, detail: str) -> AuditEntry:
    """Append an action from the router's command line."""
    return _append(author, "local", "cli", action, target, (), result, detail)


def record_own(action: str, target: str, detail: str) -> AuditEntry:
    """Append an automatic action of the web half."""
    return _append("millrace", "local", "local", action, target, (), "done", detail)


def _append(
    username: str,
    address: str,
    via: str,
    action: str,
    target: str,
    changes: Iterable[Change],
    result: Result,
    detail: str,
) -> AuditEntry:
    found = list(changes)
    listed = bounded(found)
    if len(found) > MAX_CHANGES:
        detail = f"{len(found)} changes, the first {MAX_CHANGES} listed. {detail}".strip()
    entry = AuditEntry(
        username=_text(username, 64),
        address=_text(address, 64),
        via=via,
        action=action,
        target=_text(target, 256),
        changes=listed,
        result=result,
        detail=_text(detail, 1000),
    )
    entry.save()
    _log.info(
        action,
        extra={
            "fields": {
                "user": entry.username,
                "address": entry.address,
                "via": via,
                "target": entry.target,
                "paths": [change["path"] for change in listed[:20]],
                "result": result,
                "detail": entry.detail,
            }
        },
    )
    return entry


def _text(value: str, length: int) -> str:
    """Text that any database can store and that contains no line end."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in value
    )[:length]
