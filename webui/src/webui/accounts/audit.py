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
    who = {"username": actor.name, "address": actor.address, "via": actor.via}
    return _append(AuditEntry(**who, action=action, target=target, result=result, detail=detail), changes)


def record_login(username: str, address: str, action: str, result: Result, detail: str = "") -> AuditEntry:
    """Append a login or logout; an attempted name may be any text, and is cut."""
    entry = AuditEntry(
        username=username, address=address, via="page", action=action, result=result, detail=detail
    )
    return _append(entry)


def record_command_line(author: str, action: str, target: str, result: Result, detail: str) -> AuditEntry:
    """Append an action from the router's command line."""
    entry = AuditEntry(
        username=author,
        address="local",
        via="cli",
        action=action,
        target=target,
        result=result,
        detail=detail,
    )
    return _append(entry)


def record_own(action: str, target: str, detail: str) -> AuditEntry:
    """Append an automatic action of the web half."""
    entry = AuditEntry(
        username="millrace",
        address="local",
        via="local",
        action=action,
        target=target,
        result="done",
        detail=detail,
    )
    return _append(entry)


def _append(entry: AuditEntry, changes: Iterable[Change] = ()) -> AuditEntry:
    """Store the entry, its texts cut to what the database can hold."""
    found = list(changes)
    entry.changes = listed = bounded(found)
    if len(found) > MAX_CHANGES:
        entry.detail = f"{len(found)} changes, the first {MAX_CHANGES} listed. {entry.detail}".strip()
    entry.username, entry.address = _text(entry.username, 64), _text(entry.address, 64)
    entry.target, entry.detail = _text(entry.target, 256), _text(entry.detail, 1000)
    entry.save()
    _log.info(
        entry.action,
        extra={
            "fields": {
                "user": entry.username,
                "address": entry.address,
                "via": entry.via,
                "target": entry.target,
                "paths": [change["path"] for change in listed[:20]],
                "result": entry.result,
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
