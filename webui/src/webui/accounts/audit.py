"""The audit log: stored, and written as one structured log line."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from appliance.config.diff import Change
from webui.accounts.actor import Actor
from webui.accounts.models import AuditEntry

Result = Literal["done", "failed", "refused"]

_log = logging.getLogger("webui.audit")
MAX_CHANGES = 1000
"""Changed paths one entry lists; a larger change is told by its number."""
MAX_VALUE_CHARACTERS = 16_384
"""JSON text of one value before or after a change that an entry keeps."""


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


def record_login(
    username: str, address: str, action: str, result: Result, detail: str = ""
) -> AuditEntry:
    """Append a login or logout; a name that was only tried may be anything, and is cut."""
    return _append(username, address, "page", action, "", (), result, detail)


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
    listed: list[Mapping[str, Any]] = [
        {
            "op": change.op,
            "path": change.path,
            "before": _bounded(change.before),
            "after": _bounded(change.after),
        }
        for change in changes
    ]
    if len(listed) > MAX_CHANGES:
        detail = f"{len(listed)} changes, the first {MAX_CHANGES} listed. {detail}".strip()
    entry = AuditEntry(
        username=_text(username, 64),
        address=_text(address, 64),
        via=via,
        action=action,
        target=_text(target, 256),
        changes=listed[:MAX_CHANGES],
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


def _bounded(value: Any) -> Any:
    """A value that is kept as it is, or that it is large: the agent's revision has all of it."""
    if not isinstance(value, (dict, list)):
        return value
    size = len(json.dumps(value))
    return value if size <= MAX_VALUE_CHARACTERS else f"({size} characters of JSON; see the revision)"


def _text(value: str, length: int) -> str:
    """Text that any database can store and that ends no line."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in value
    )[:length]
