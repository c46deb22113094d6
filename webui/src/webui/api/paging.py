"""One way to page through every list: ``limit`` and ``offset`` in, ``items``, ``total`` and ``next`` out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from ninja import Query, Schema
from pydantic import Field

Item = TypeVar("Item")

Limit = Annotated[int, Query(50, ge=1, le=1000, description="Items in one page.")]
Offset = Annotated[int, Query(0, ge=0, le=10_000_000, description="Items before the first of this page.")]


PLAIN_TEXT = r"^[^\x00-\x1f\x7f]*$"
"""Text that a filter takes: no control characters, which no database stores."""


class Paged(Schema, Generic[Item]):
    """A page of a list."""

    items: list[Item] = Field(description="This page.")
    total: int = Field(description="Items in the whole list.")
    next: str | None = Field(description="Address of the next page; null on the last.")


def page(request: HttpRequest, items: Sequence[Any], total: int, limit: int, offset: int) -> dict[str, Any]:
    """The answer for one page that is cut out already."""
    following = None
    if offset + len(items) < total and items:
        query = request.GET.copy()
        query["limit"], query["offset"] = str(limit), str(offset + limit)
        following = f"{request.path}?{query.urlencode()}"
    return {"items": list(items), "total": total, "next": following}


def page_of(
    request: HttpRequest,
    rows: QuerySet[Any, Any],
    limit: int,
    offset: int,
    shape: Callable[[Any], Any] = lambda row: row,
) -> dict[str, Any]:
    """One page of a query."""
    found: list[Model] = list(rows[offset : offset + limit])
    return page(request, [shape(row) for row in found], rows.count(), limit, offset)


def page_of_list(request: HttpRequest, items: Sequence[Any], limit: int, offset: int) -> dict[str, Any]:
    """One page of a list that is at hand."""
    return page(request, items[offset : offset + limit], len(items), limit, offset)
