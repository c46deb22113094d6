"""Conflicts of a change set with the running document, decided one place at a time for one side."""

from __future__ import annotations

from typing import Any, Literal

from django.db import transaction

from appliance.config import pointer as pointers
from appliance.config.dump import digest
from appliance.config.merge import MergeConflict, merge
from appliance.errors import Conflict, NotFound
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.changes import running, services
from webui.changes.models import ChangeSet

Side = Literal["mine", "theirs"]
_NOTHING: Any = object()


def resolve(actor: Actor, change: ChangeSet, path: str, side: Side) -> list[MergeConflict]:
    """Decide the conflict at `path` and return the remaining ones; after the last, the running revision is
    the base.

    Mine: the running value counts as known there, so that the change set's value replaces it. Theirs: the
    change set takes over the running value. Raises NotFound where there is no such conflict, and what an edit
    raises.
    """
    now = running.now()
    conflicts = merge(change.base_document, change.document, now.sealed).conflicts
    if not any(conflict.path == path for conflict in conflicts):
        raise NotFound(f"{path}: there is no conflict any more")
    theirs = _at(now.sealed, path)
    with transaction.atomic():
        locked = ChangeSet.objects.select_for_update().get(pk=change.pk)
        if locked.version != change.version or not locked.is_open or locked.owner_id != actor.user.pk:
            raise Conflict("The change set was changed in the meantime; look at it again.")
        if side == "mine":
            change.base_document = _with(change.base_document, path, theirs)
            change.base_digest = ""
        else:
            change.document = _with(change.document, path, theirs)
            change.digest = digest(change.document)
        change.version = locked.version + 1
        change.save(
            update_fields=["base_document", "base_digest", "document", "digest", "version", "updated_at"]
        )
        audit.record(actor, "change.resolve", f"change set {change.pk}", detail=f"{path}: {side}")
    left = [conflict for conflict in conflicts if conflict.path != path]
    return left or services.rebase(actor, change, now)


def _at(document: Any, path: str) -> Any:
    try:
        return pointers.resolve(document, path)
    except NotFound:
        return _NOTHING


def _with(document: Any, path: str, value: Any) -> Any:
    if value is not _NOTHING:
        return pointers.put(document, path, value)
    return pointers.delete(document, path) if pointers.exists(document, path) else document
