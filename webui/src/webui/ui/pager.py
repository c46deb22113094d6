"""A long list on a page: one part at a time, with the addresses of the previous and the next part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core.paginator import Paginator
from django.http import HttpRequest

Item = TypeVar("Item")


@dataclass(frozen=True)
class Pager(Generic[Item]):
    """A part of a list. `name` is both the parameter that selects it and its element's id in the page."""

    name: str
    items: Sequence[Item]
    first: int
    """Number of the first item, from 1; 0 where there is none."""
    last: int
    total: int
    previous: str
    """Address of the previous part; empty on the first."""
    following: str
    """Address of the next part; empty on the last."""


def pager(
    request: HttpRequest,
    name: str,
    items: Sequence[Item],
    per_page: int,
    page: str = "",
    number: int | None = None,
) -> Pager[Item]:
    """The part with this number, or with the query's `name`; the first or last for a number out of range.

    `page` is the page's path where this request goes to another, such as a form's.
    """
    cut: Any = Paginator(items, per_page).get_page(request.GET.get(name) if number is None else number)
    return Pager(
        name,
        list(cut),
        cut.start_index(),
        cut.end_index(),
        cut.paginator.count,
        address(request, page, name, **{name: str(cut.number - 1)}) if cut.has_previous() else "",
        address(request, page, name, **{name: str(cut.number + 1)}) if cut.has_next() else "",
    )


def last_offset(total: int, per_page: int) -> int:
    """The start of the last part of a list whose parts are addressed by the number of rows before them."""
    return max(0, total - 1) // per_page * per_page


def address(request: HttpRequest, page: str, place: str, **parameters: str) -> str:
    """This page's address, at the element with this id, with these parameters; an empty parameter is left
    out.
    """
    query = request.GET.copy()
    for name, value in parameters.items():
        query.pop(name, None)
        if value:
            query[name] = value
    return f"{page or request.path}{'?' * bool(query)}{query.urlencode()}#{place}"
