"""The presentation of the document's objects in the pages: their words, their list, their own page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from django.urls import reverse

from appliance.config.pointer import split
from appliance.config.vrf_view import pointer_in, view_of
from webui.ui.pages import PAGES
from webui.ui.pointers import join
from webui.ui.tables.declaration import Page, Table
from webui.ui.vrfs import query_of


@dataclass(frozen=True)
class Place:
    """An object as pages present it."""

    pointer: str
    noun: str
    """Its kind in words, such as ``static route``."""
    name: str
    """Its own name; empty for a singleton."""
    section: str
    """The sidebar page that it belongs to."""
    list_url: str
    """The page from which the user came, and to which they return."""
    list_title: str
    vrf: str = ""
    """The VRF whose routing contains it; empty for the default one."""

    @property
    def title(self) -> str:
        """Noun, name and VRF."""
        words = self.noun[:1].upper() + self.noun[1:]
        return f"{words} {self.name}".strip() + self.within

    @property
    def within(self) -> str:
        """`` in VRF blue``, or nothing in the default one."""
        return f" in VRF {self.vrf}" if self.vrf else ""


@dataclass(frozen=True)
class _Pattern:
    tokens: tuple[str, ...]
    noun: str
    section: str
    list_title: str
    list_url: Callable[[list[str]], str]
    own_page: str = ""
    """Name of the address of the object's own template; the argument is its name."""


_BY_HAND = (
    _Pattern(
        ("routing", "policy", "route_maps", "*", "rules", "*"),
        "rule",
        "policies",
        "Route map",
        lambda tokens: reverse("ui:route_map", args=[tokens[3]]),
    ),
    _Pattern(
        ("acls", "*", "rules", "*"),
        "rule",
        "acls",
        "Access list",
        lambda tokens: reverse("ui:acl", args=[tokens[1]]),
    ),
    _Pattern(("system",), "system settings", "edit:/system", "Dashboard", lambda _: reverse("ui:dashboard")),
    _Pattern(("dataplane",), "data plane", "edit:/dataplane", "Dashboard", lambda _: reverse("ui:dashboard")),
)


@cache
def _patterns() -> tuple[_Pattern, ...]:
    return (*_BY_HAND, *(pattern for page in PAGES for pattern in _patterns_of(page)))


def _patterns_of(page: Page) -> Iterator[_Pattern]:
    if page.instance is not None:
        for place in _in_every_vrf(page.instance.pointer):
            yield _Pattern(tuple(split(place)), page.title, page.name, page.title, _list_url(page))
    for table in page.tables:
        for place in _in_every_vrf(table.mapping) if table.mapping else ():
            yield _Pattern(
                (*split(place), "*"),
                table.noun,
                page.name,
                page.title,
                _list_url(page, table if page.tabs else None),
                table.own_page,
            )


def _in_every_vrf(pointer: str) -> tuple[str, ...]:
    """The place in the default VRF, and the corresponding place of any other VRF."""
    return tuple(dict.fromkeys((pointer, pointer_in("*", pointer))))


def _vrf_of(tokens: list[str]) -> str:
    return view_of(join(*tokens))[0]


def _list_url(page: Page, tab: Table | None = None) -> Callable[[list[str]], str]:
    end = f"?kind={tab.name}" if tab else ""
    return lambda tokens: reverse(f"ui:{page.name}") + (end or query_of(_vrf_of(tokens)))


def _pattern_of(tokens: list[str]) -> _Pattern | None:
    return next(
        (
            pattern
            for pattern in _patterns()
            if len(pattern.tokens) == len(tokens)
            and all(wanted in ("*", token) for wanted, token in zip(pattern.tokens, tokens, strict=True))
        ),
        None,
    )


def place_of(pointer: str) -> Place:
    """The presentation of the object at the pointer; it exists for every object."""
    tokens = split(pointer)
    pattern = _pattern_of(tokens)
    if pattern is not None:
        title = pattern.list_title
        if pattern.tokens[-2:] == ("rules", "*"):
            title = f"{title} {tokens[-3]}"
        return Place(
            pointer,
            pattern.noun,
            tokens[-1] if pattern.tokens[-1] == "*" else "",
            pattern.section,
            pattern.list_url(tokens),
            title,
            _vrf_of(tokens),
        )
    above = place_of(join(*tokens[:-1])) if len(tokens) > 1 else None
    return Place(
        pointer,
        tokens[-1].replace("_", " ") if tokens else "document",
        "",
        above.section if above else "",
        reverse("ui:edit", args=[above.pointer.removeprefix("/")]) if above else reverse("ui:dashboard"),
        above.title if above else "Dashboard",
    )


def object_of(pointer: str) -> str:
    """Pointer of the object with a page that contains or is at the pointer; a rule is part of its list."""
    tokens = split(pointer)
    best: tuple[str, ...] = ()
    for pattern in _patterns():
        size = len(pattern.tokens)
        fits = size <= len(tokens) and all(
            wanted in ("*", token) for wanted, token in zip(pattern.tokens, tokens[:size], strict=True)
        )
        if fits and size > len(best) and pattern.tokens[-2:] != ("rules", "*"):
            best = tuple(tokens[:size])
    return join(*best) if best else pointer


def inside(pointer: str) -> str:
    """The object that contains a place, as words inside a sentence: ``interface lan0``."""
    place = place_of(object_of(pointer))
    return f"{place.noun} {place.name}".strip() + place.within


def holds_objects(pointer: str) -> bool:
    """Whether the pointer is not an object itself, but has objects with pages below it."""
    tokens = split(pointer)
    deeper = False
    for pattern in _patterns():
        if len(pattern.tokens) < len(tokens):
            continue
        if all(wanted in ("*", token) for wanted, token in zip(pattern.tokens, tokens, strict=False)):
            if len(pattern.tokens) == len(tokens):
                return False
            deeper = True
    return deeper


def home_of(pointer: str) -> str:
    """The page after the object was saved: its own page if one exists, otherwise its list."""
    tokens = split(pointer)
    pattern = _pattern_of(tokens)
    if pattern is not None and pattern.own_page:
        return reverse(pattern.own_page, args=[tokens[-1]]) + query_of(_vrf_of(tokens))
    return place_of(pointer).list_url


def page_of(pointer: str) -> str:
    """The page that shows the object at the pointer, or the nearest object around it, to everyone."""
    around = object_of(pointer)
    tokens = split(around)
    pattern = _pattern_of(tokens)
    if pattern is None:
        return reverse("ui:dashboard")
    if pattern.own_page:
        return reverse(pattern.own_page, args=[tokens[-1]]) + query_of(_vrf_of(tokens))
    if pattern.tokens[-1] == "*":
        return reverse("ui:object", args=[around.removeprefix("/")])
    return pattern.list_url(tokens)
