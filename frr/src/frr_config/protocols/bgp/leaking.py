"""Routes that one VRF's BGP instance imports from another's, as bgpd's lines name them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from frr_config.line import Holders, Line
from frr_config.natural import natural
from frr_config.syntax import Kind, ObjectKey, Ranker
from frr_config.types import DEFAULT_VRF

_WORDS = "import vrf "
_ROUTE_MAP = "route-map"


def import_title(source: str) -> str:
    """The title of an import from a VRF, or of the filter of imports."""
    if source == _ROUTE_MAP:
        return "BGP import route map"
    return f"BGP import from {'the default VRF' if source == DEFAULT_VRF else f'VRF {source}'}"


def instances_order(_before: Holders, _after: Holders) -> Ranker:
    """The default instance is created first and removed last: bgpd keeps it while others exchange routes
    through it.
    """

    def rank(key: ObjectKey, removed: bool) -> tuple[Any, ...]:
        own = bool(key.vrf) != removed
        return (0, own, natural(key.vrf), natural(key.name))

    return rank


def imports_order(_before: Holders, _after: Holders) -> Ranker:
    """The route map is set before the first import, and removed after the last."""
    return lambda key, removed: (0, (key.name == _ROUTE_MAP) == removed, natural(key.name), natural(key.root))


def import_identities(kind: Kind, holders: Iterable[Line]) -> dict[ObjectKey, tuple[str, ...]]:
    """For each import: the instance it imports from, and the default instance.

    bgpd forgets imports from an instance that is removed. It refuses to remove the default instance while
    there are imports or a route map for them.
    """
    openers = {
        line.text.partition(" vrf ")[2] or DEFAULT_VRF: line.text
        for line in holders
        if not line.context and line.text.startswith("router bgp ")
    }
    found: dict[ObjectKey, tuple[str, ...]] = {}
    for line in holders:
        if line.context and line.text.startswith(_WORDS):
            source = line.text.split()[2]
            key = ObjectKey(kind, line.context[0], source)
            found[key] = (openers.get(source, ""), openers.get(DEFAULT_VRF, ""))
    return found
