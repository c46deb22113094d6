"""The end of a change set: its documents are removed, the list of its changes stays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from appliance.config.diff import Change, diff_documents
from webui.accounts import audit
from webui.accounts.bounded_changes import bounded
from webui.changes.models import ChangeSet
from webui.changes.models.change_set import ChangeState

OPEN_KEPT = timedelta(days=30)
CLOSED_KEPT = timedelta(days=90)
MAX_OPEN = 20
"""Most open change sets of one user: each holds two whole documents."""


def close(
    change: ChangeSet,
    state: ChangeState,
    revision: int | None = None,
    note: str = "",
    changes: Sequence[Change] | None = None,
) -> None:
    """Close it and keep the list of its changes, masked, instead of two documents.

    `changes` are those from its base, where they are already known.
    """
    change.state = state
    change.committed_revision = revision
    change.commit_request = ""
    change.note = note
    compact(change, changes)


def compact(change: ChangeSet, changes: Sequence[Change] | None = None) -> None:
    """Replace the documents by the list of changes."""
    found = diff_documents(change.base_document, change.document) if changes is None else changes
    change.changes = bounded(found)
    change.base_document, change.document = {}, {}
    ChangeSet.objects.filter(pk=change.pk).update(
        **{
            name: getattr(change, name)
            for name in (
                "state", "committed_revision", "commit_request", "note",
                "changes", "base_document", "document",
            )
        },
    )  # fmt: skip


def expires_at(change: ChangeSet) -> datetime | None:
    """When an open change set is discarded unless it is edited before; None for a closed one."""
    return change.updated_at + OPEN_KEPT if change.is_open else None


def expire(now: datetime) -> int:
    """Discard open change sets that nobody edited for OPEN_KEPT, and compact those that an earlier
    release kept whole.
    """
    ended = 0
    abandoned = ChangeSet.objects.filter(
        state=ChangeState.OPEN, commit_request="", updated_at__lt=now - OPEN_KEPT
    )
    for change in abandoned.iterator(chunk_size=10):
        close(change, ChangeState.DISCARDED, note=f"Not edited for {OPEN_KEPT.days} days.")
        audit.record_own(
            "change.expire",
            f"change set {change.pk}",
            f"of {change.owner}: not edited for {OPEN_KEPT.days} days",
        )
        ended += 1
    whole = ChangeSet.objects.exclude(state=ChangeState.OPEN).exclude(base_document={})
    for change in whole.iterator(chunk_size=10):
        compact(change)
    return ended
