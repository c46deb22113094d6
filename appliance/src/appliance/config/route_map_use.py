"""Where a document uses route maps: each feature that names one says which daemon evaluates it there."""

from __future__ import annotations

from dataclasses import dataclass

from frr_config.protocols.policy.clauses import Place


@dataclass(frozen=True)
class RouteMapUse:
    """One place of the document that names a route map.

    A feature's ``route_maps.py`` yields it from ``uses(config)``, which gets the document as one VRF sees it.
    """

    route_map: str
    pointer: str
    """The field that names it."""
    what: str
    """The routes it is for, as ``routes received from 192.0.2.1``."""
    place: Place
    """Where it is evaluated, and for which family."""
