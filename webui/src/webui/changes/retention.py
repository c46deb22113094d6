"""The retention of change sets and of the mirrored history."""

from __future__ import annotations

from datetime import datetime

from webui.changes.closing import CLOSED_KEPT, MAX_OPEN, OPEN_KEPT, expire
from webui.changes.models import ChangeSet, RevisionMirror
from webui.changes.models.change_set import ChangeState
from webui.storage.kind import Kind, Rows, past


def _closed() -> Rows:
    return ChangeSet.objects.exclude(state=ChangeState.OPEN).order_by("updated_at", "id")


def _expire(now: datetime) -> int:
    expire(now)
    return past(lambda: _closed().filter(updated_at__lt=now - CLOSED_KEPT))


KINDS = (
    Kind(
        "change sets",
        lambda: ChangeSet,
        f"open ones until {OPEN_KEPT.days} days after the last edit, at most {MAX_OPEN} of a user; "
        f"closed ones {CLOSED_KEPT.days} days, as a list of what they changed",
        _closed,
        _expire,
        most_rows=5000,
        most_bytes=64 << 20,
        payload=("changes",),
    ),
    Kind(
        "mirrored history",
        lambda: RevisionMirror,
        "the newest revisions",
        lambda: RevisionMirror.objects.order_by("number"),
        most_rows=50_000,
        most_bytes=32 << 20,
        payload=("comment", "impact"),
    ),
)
