"""One kind of stored data: how long and how much of it is kept. Independent of the particular kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model, QuerySet, Sum, TextField
from django.db.models.functions import Cast, Coalesce, Length

Rows = QuerySet[Any, Any]
BATCH = 500
"""Rows removed in one transaction, so that no writer waits long."""


def delete_rows(rows: Rows, keys: Sequence[Any]) -> None:
    """Remove these rows and their dependents."""
    rows.model._base_manager.filter(pk__in=keys).delete()


def _nothing(_: datetime) -> int:
    return 0


@dataclass(frozen=True)
class Kind:
    """The retention of the rows that `rows` selects, the oldest first.

    `most_rows` and `most_bytes` (of the columns in `payload`) are quotas: above them the oldest are removed
    early. A kind without any is bounded by `bounded_by`, which says how.
    """

    name: str
    model: Callable[[], type[Model]]
    kept: str
    """The retention time, in words."""
    rows: Callable[[], Rows] | None = None
    """The rows that may be removed, the oldest first."""
    expire: Callable[[datetime], int] = _nothing
    """Removes rows older than the retention time; returns how many."""
    most_rows: int | None = None
    most_bytes: int | None = None
    payload: tuple[str, ...] = ()
    delete: Callable[[Rows, Sequence[Any]], None] = delete_rows
    bounded_by: str = ""

    def reduce(self, now: datetime) -> int:
        """Remove rows beyond the retention time and the quotas; returns how many."""
        removed = self.expire(now)
        if self.rows is None:
            return removed
        if self.most_rows is not None:
            removed += self._remove(max(0, self.rows().count() - self.most_rows))
        if self.most_bytes is not None:
            removed += self._shrink(self.bytes() - self.most_bytes)
        return removed

    def count(self) -> int:
        """How many rows there are."""
        return int(self._all().count())

    def bytes(self) -> int:
        """The size of their payload, in bytes of text."""
        if not self.payload:
            return 0
        return int(self._all().order_by().aggregate(sum=Coalesce(Sum(self._length()), 0))["sum"])

    def _all(self) -> Rows:
        return self.model()._base_manager.all() if self.rows is None else self.rows()

    def _length(self) -> Any:
        lengths = [Coalesce(Length(Cast(name, TextField())), 0) for name in self.payload]
        return sum(lengths[1:], start=lengths[0])

    def _remove(self, surplus: int) -> int:
        assert self.rows is not None
        removed = 0
        while removed < surplus:
            keys = list(self.rows().values_list("pk", flat=True)[: min(BATCH, surplus - removed)])
            if not keys:
                break
            self.delete(self.rows(), keys)
            removed += len(keys)
        return removed

    def _shrink(self, surplus: int) -> int:
        removed = 0
        for keys in self._until(surplus):
            self.delete(self.rows(), keys)  # type: ignore[misc]  # only kinds with rows come here
            removed += len(keys)
        return removed

    def _until(self, surplus: int) -> Iterator[list[Any]]:
        """Keys of the oldest rows, batch by batch, until they make up `surplus` bytes."""
        while surplus > 0:
            found = list(self._all().annotate(_bytes=self._length()).values_list("pk", "_bytes")[:BATCH])
            if not found:
                return
            keys = []
            for key, size in found:
                if surplus <= 0:
                    break
                keys.append(key)
                surplus -= size
            yield keys


def past(rows: Callable[[], Rows], delete: Callable[[Rows, Sequence[Any]], None] = delete_rows) -> int:
    """Remove all of `rows` in batches; returns how many."""
    removed = 0
    while keys := list(rows().values_list("pk", flat=True)[:BATCH]):
        delete(rows(), keys)
        removed += len(keys)
    return removed
