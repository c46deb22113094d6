"""The scheduled job that applies the retention of every kind and frees the space."""

from __future__ import annotations

import logging

from django.db import connection
from django.utils import timezone

from webui.storage import usage
from webui.storage.registry import KINDS

_log = logging.getLogger(__name__)
_FREE_BYTES = 32 << 20


def clean_up() -> dict[str, int]:
    """Apply the retention of every kind; returns how many rows of each were removed. A failure of one
    kind does not stop the others.
    """
    now = timezone.now()
    removed: dict[str, int] = {}
    for kind in KINDS:
        try:
            removed[kind.name] = kind.reduce(now)
        except Exception:
            _log.exception("%s: old rows are not removed", kind.name)
    give_back()
    usage.measure()
    return removed


def give_back(free_bytes: int = _FREE_BYTES) -> bool:
    """Return SQLite's unused space to the file system; returns whether there was enough to do so.

    PostgreSQL's autovacuum makes the space of removed rows reusable automatically. SQLite does too, but its
    file never shrinks: once more than half of it and more than `free_bytes` are free, it is rewritten.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return False
    with connection.cursor() as cursor:
        sizes = {}
        for name in ("page_size", "page_count", "freelist_count"):
            cursor.execute(f"PRAGMA {name}")
            sizes[name] = int(cursor.fetchone()[0])
        free = sizes["freelist_count"]
        if free * sizes["page_size"] <= free_bytes or 2 * free <= sizes["page_count"]:
            return False
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return True
