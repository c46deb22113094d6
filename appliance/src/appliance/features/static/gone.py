"""Announced prefixes that the document itself no longer brings into the table. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from appliance.config.document import RouterConfig
from appliance.config.interface_address import address_of
from appliance.features.static.table import Table, stands, tables, touched
from appliance.impact.change import Change, is_up


@dataclass(frozen=True)
class Gone:
    """Prefixes that are in the table before a change, and not after it."""

    by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Prefixes by their source, ``static`` or ``connected``, as redistribution names it."""
    entirely: frozenset[str] = frozenset()
    """Prefixes that neither source brings any more."""


def gone(change: Change) -> Gone:
    """A blackhole is in the table like any other route; a route that a connected network hides is not."""
    return change.once(_gone)


def _gone(change: Change) -> Gone:
    if stands(change):
        return Gone()
    before, after = tables(change)
    static = []
    for prefix in touched(change):
        change.in_time()
        if _is_in(before, prefix) and not _is_in(after, prefix):
            static.append(prefix)
    kept = _connected(change.after)
    connected = [prefix for prefix in _connected(change.before) if prefix not in kept]
    entirely = [
        prefix for prefix in (*static, *connected) if prefix not in kept and not _is_in(after, prefix)
    ]
    return Gone({"static": tuple(static), "connected": tuple(connected)}, frozenset(entirely))


def _is_in(table: Table, prefix: str) -> bool:
    route = table.route(prefix)
    return route is not None and table.is_usable(route) and not table.is_hidden(prefix)


def _connected(config: RouterConfig) -> dict[str, None]:
    """Networks of the interfaces that are up, in order."""
    return {
        str(address_of(one).network): None
        for name, interface in config.interfaces.items()
        if is_up(config, name)
        for one in interface.addresses
    }
