"""A difference on a page: the changed objects with the first lines of each, or one object with all its
lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from webui.ui.diff_text import Line, ObjectDiff
from webui.ui.pager import Pager, address, pager

_OBJECTS = 100
"""The most objects on one page."""
_LINES_OF_ONE = 100
"""The most lines of an object among others; the rest is behind a link."""
_LINES = 1_000
"""The most lines on one page of an object shown alone."""


@dataclass(frozen=True)
class ShownObject:
    """An object and its lines on this page."""

    diff: ObjectDiff
    lines: Sequence[Line]
    more: int = 0
    """The number of lines left out here."""
    alone: str = ""
    """Address of the object alone, with all its lines; empty where nothing is left out."""


@dataclass(frozen=True)
class DiffPage:
    """A part of a difference. `pager` counts objects, or the lines of an object shown alone."""

    name: str
    objects: tuple[ShownObject, ...]
    total: int
    """The number of changed objects."""
    pager: Pager[ObjectDiff] | Pager[Line]
    all_objects: str = ""
    """Address of the whole difference, where one object is shown alone."""


def diff_page(request: HttpRequest, name: str, objects: Sequence[ObjectDiff], page: str = "") -> DiffPage:
    """The part that the query selects: `name` is its number, ``name_of`` an object to show alone."""
    chosen = f"{name}_of"
    pointer = request.GET.get(chosen)
    alone = next((one for one in objects if one.pointer == pointer), None) if pointer else None
    if alone is not None:
        lines = pager(request, name, alone.lines, _LINES, page)
        back = address(request, page, name, **{name: "", chosen: ""})
        return DiffPage(name, (ShownObject(alone, lines.items),), len(objects), lines, back)
    part = pager(request, name, objects, _OBJECTS, page)
    shown = []
    for one in part.items:
        more = max(0, len(one.lines) - _LINES_OF_ONE)
        link = address(request, page, name, **{name: "", chosen: one.pointer}) if more else ""
        shown.append(ShownObject(one, one.lines[:_LINES_OF_ONE], more, link))
    return DiffPage(name, tuple(shown), len(objects), part)
