"""The amount of each kind of stored data, and its limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from webui.storage.registry import KINDS

_KEY = "storage-usage"
_KEPT_S = 1800


@dataclass(frozen=True)
class Usage:
    """One kind."""

    kind: str
    rows: int
    most_rows: int | None
    payload_bytes: int
    most_bytes: int | None
    kept: str
    bounded_by: str


def measure() -> dict[str, Any]:
    """Count everything and keep the answer. Reads whole tables: for the job that removes old rows."""
    kinds = [
        asdict(
            Usage(
                kind.name,
                kind.count(),
                kind.most_rows,
                kind.bytes(),
                kind.most_bytes,
                kind.kept,
                kind.bounded_by,
            )
        )
        for kind in KINDS
    ]
    found = {"measured_at": timezone.now(), "database_bytes": _database_bytes(), "kinds": kinds}
    cache.set(_KEY, found, _KEPT_S)
    return found


def usage() -> dict[str, Any]:
    """The last measurement, at most half an hour old."""
    known: dict[str, Any] | None = cache.get(_KEY)
    return measure() if known is None else known


def _database_bytes() -> int:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
        cursor.execute("PRAGMA page_count")
        pages = int(cursor.fetchone()[0])
        cursor.execute("PRAGMA page_size")
        return pages * int(cursor.fetchone()[0])
