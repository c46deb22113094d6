"""Where an object of the document lives in the pages: its words, its list, its own page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse

from appliance.config.pointer import split
from webui.ui.pointers import join


@dataclass(frozen=True)
class Place:
    """An object as pages speak of it."""

    pointer: str
    noun: str
    """What it is, such as ``static route``."""
    name: str
    """Its own name; empty for a singleton."""
    section: str
    """Page of the sidebar it belongs to."""
    list_url: str
    """Where the user came from and goes back to."""
    list_title: str

    @property
    def title(self) -> str:
        """Noun and name."""
        words = self.noun[:1].upper() + self.noun[1:]
        return f"{words} {self.name}".strip()


@dataclass(frozen=True)
class _Pattern:
    tokens: tuple[str, ...]
    noun: str
    section: str
    list_title: str
    list_url: Callable[[list[str]], str]


def _page(name: str) -> Callable[[list[str]], str]:
    return lambda _tokens: reverse(f"ui:{name}")


def _policy_tab(tokens: list[str]) -> str:
    return reverse("ui:policies") + f"?kind={tokens[2]}"


_PATTERNS = (
    _Pattern(("interfaces", "*"), "interface", "interfaces", "Interfaces", _page("interfaces")),
    _Pattern(
        ("routing", "static", "*"), "static route", "static_routes", "Static routes", _page("static_routes")
    ),
    _Pattern(("routing", "bgp"), "BGP", "bgp", "BGP", _page("bgp")),
    _Pattern(("routing", "bgp", "neighbors", "*"), "BGP neighbor", "bgp", "BGP", _page("bgp")),
    _Pattern(("routing", "bgp", "peer_groups", "*"), "peer group", "bgp", "BGP", _page("bgp")),
    _Pattern(("routing", "ospf"), "OSPF", "ospf", "OSPF", _page("ospf")),
    _Pattern(("routing", "ospf", "interfaces", "*"), "OSPF interface", "ospf", "OSPF", _page("ospf")),
    _Pattern(("routing", "ospf", "areas", "*"), "OSPF area", "ospf", "OSPF", _page("ospf")),
    _Pattern(("routing", "policy", "prefix_lists", "*"), "prefix list", "policies", "Policies", _policy_tab),
    _Pattern(
        ("routing", "policy", "as_path_lists", "*"), "AS path list", "policies", "Policies", _policy_tab
    ),
    _Pattern(
        ("routing", "policy", "community_lists", "*"), "community list", "policies", "Policies", _policy_tab
    ),
    _Pattern(("routing", "policy", "route_maps", "*"), "route map", "policies", "Policies", _policy_tab),
    _Pattern(
        ("routing", "policy", "route_maps", "*", "rules", "*"),
        "rule",
        "policies",
        "Route map",
        lambda tokens: reverse("ui:route_map", args=[tokens[3]]),
    ),
    _Pattern(("acls", "*"), "access list", "acls", "Access lists", _page("acls")),
    _Pattern(
        ("acls", "*", "rules", "*"),
        "rule",
        "acls",
        "Access list",
        lambda tokens: reverse("ui:acl", args=[tokens[1]]),
    ),
    _Pattern(("system",), "system settings", "edit:/system", "Dashboard", _page("dashboard")),
    _Pattern(("dataplane",), "data plane", "edit:/dataplane", "Dashboard", _page("dashboard")),
)


def place_of(pointer: str) -> Place:
    """How pages speak of the object at the pointer; any object has some answer."""
    tokens = split(pointer)
    for pattern in _PATTERNS:
        if len(pattern.tokens) == len(tokens) and all(
            wanted in ("*", token) for wanted, token in zip(pattern.tokens, tokens, strict=True)
        ):
            named = pattern.tokens[-1] == "*"
            title = pattern.list_title
            if pattern.tokens[-2:] == ("rules", "*"):
                title = f"{title} {tokens[-3]}"
            return Place(
                pointer,
                pattern.noun,
                tokens[-1] if named else "",
                pattern.section,
                pattern.list_url(tokens),
                title,
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
    """Pointer of the object pages know that the pointer leads to or into; a rule counts to its list."""
    tokens = split(pointer)
    best: tuple[str, ...] = ()
    for pattern in _PATTERNS:
        size = len(pattern.tokens)
        fits = size <= len(tokens) and all(
            wanted in ("*", token) for wanted, token in zip(pattern.tokens, tokens[:size], strict=True)
        )
        if fits and size > len(best) and pattern.tokens[-2:] != ("rules", "*"):
            best = tuple(tokens[:size])
    return join(*best) if best else pointer


def holds_objects(pointer: str) -> bool:
    """Whether objects that pages know live below the pointer, and it is none itself."""
    tokens = split(pointer)
    deeper = False
    for pattern in _PATTERNS:
        if len(pattern.tokens) < len(tokens):
            continue
        if all(wanted in ("*", token) for wanted, token in zip(pattern.tokens, tokens, strict=False)):
            if len(pattern.tokens) == len(tokens):
                return False
            deeper = True
    return deeper


def home_of(pointer: str) -> str:
    """Where to go after the object was saved: its own page if it has one, else its list."""
    tokens = split(pointer)
    match tokens:
        case ["acls", name]:
            return reverse("ui:acl", args=[name])
        case ["interfaces", name]:
            return reverse("ui:interface", args=[name])
        case ["routing", "policy", "route_maps", name]:
            return reverse("ui:route_map", args=[name])
    return place_of(pointer).list_url
