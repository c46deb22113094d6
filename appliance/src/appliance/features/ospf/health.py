"""Adjacencies that were full and are lost, and those that do not become full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.health.check import Check, Finding, Look
from appliance.routing.rows import ospf_neighbors
from appliance.state.ospf import OspfNeighborState
from frr_config.protocols.ospf.model import Ospf, OspfInterface

if TYPE_CHECKING:
    from appliance.agent.router import Router

_STUCK_S = 60.0
"""Longer than the wait for a designated router plus the exchange of a large database."""
_GIVEN_UP_S = 86400.0
"""A router that is gone for a day was removed."""
Neighbors = Mapping[str, OspfNeighborState]
"""By ``ROUTER-ID on INTERFACE``."""

_STUCK = {
    "Init": (
        "the neighbor does not hear this router",
        "Packets pass in one direction only: check the neighbor's access lists and interface, and "
        "authentication.",
    ),
    "ExStart": (
        "the two routers do not agree on the database exchange",
        "Compare the MTU of both ends: if they differ, the exchange never begins.",
    ),
    "Exchange": (
        "the database exchange does not end",
        "Compare the MTU of both ends, and check the interface for drops.",
    ),
    "Loading": (
        "not all of the neighbor's routes arrive",
        "Check the interface towards the neighbor for drops.",
    ),
    "2-Way": (
        "the two routers see each other and go no further",
        "Compare the network type of both ends, and give one of them a priority above 0.",
    ),
    "Attempt": ("the neighbor has not answered yet", "Ping the neighbor."),
}


def _read(router: Router) -> Neighbors:
    rows = router.routing.ask(lambda frr: tuple(ospf_neighbors(frr.ospf_neighbors())))
    return {f"{row.router_id} on {row.interface}": row for row in rows}


def adjacencies(look: Look[Neighbors]) -> Iterator[Finding]:
    """Adjacencies below full, and those that disappeared."""
    ospf = look.config.routing.ospf
    if ospf is None:
        return
    for name, row in look.now.items():
        settings = _running(ospf, look.config, row.interface)
        if settings is not None and not row.full and not _is_fine(row, settings):
            before = look.before.get(name) if look.before is not None else None
            was_full = ("ospf_down", name) in look.standing or (before is not None and before.full)
            if was_full:
                yield _lost(name, row.interface, f"the neighbor is in state {row.state}")
            elif (row.uptime_ms or 0) / 1000 >= _STUCK_S:
                yield _stuck(name, row)
    gone = {name: row for name, row in (look.before or {}).items() if row.full and name not in look.now}
    for name in dict.fromkeys(
        [*gone, *(name for kind, name in look.standing if kind == "ospf_down" and name not in look.now)]
    ):
        interface = name.partition(" on ")[2]
        settings = _running(ospf, look.config, interface)
        if settings is None or look.standing.get(("ospf_down", name), 0.0) > _GIVEN_UP_S:
            continue
        others = [row for row in look.now.values() if row.interface == interface and row.full]
        # On a link between two routers another neighbor has taken its place.
        if others and settings.network_type == "point-to-point":
            continue
        why = f"nothing was received for the dead interval, {settings.dead_interval_s} s"
        yield _lost(name, interface, why)


def _running(ospf: Ospf, config: RouterConfig, interface: str) -> OspfInterface | None:
    """The interface's settings; None if no adjacency is expected."""
    settings, link = ospf.interfaces.get(interface), config.interfaces.get(interface)
    return settings if settings is not None and not settings.passive and link and link.enabled else None


def _is_fine(row: OspfNeighborState, settings: OspfInterface) -> bool:
    """Two routers of a broadcast network, neither of which is designated, stay below full."""
    return settings.network_type == "broadcast" and row.state.startswith("2-Way/DROther")


def _lost(name: str, interface: str, why: str) -> Finding:
    return Finding(
        "ospf_down",
        name,
        "major",
        f"OSPF adjacency with {name} is lost: {why}",
        "Ping the neighbor and check the interface; compare hello and dead interval, area, network type "
        "and authentication of both ends.",
        {"interface": interface, "why": why},
        join(("routing", "ospf", "interfaces", interface)),
    )


def _stuck(name: str, row: OspfNeighborState) -> Finding:
    why, advice = _STUCK.get(
        row.state.partition("/")[0], ("it does not become full", "Compare the configuration of both ends.")
    )
    return Finding(
        "ospf_stuck",
        name,
        "major",
        f"OSPF adjacency with {name} is in state {row.state}: {why}",
        advice,
        {"state": row.state, "interface": row.interface, "address": row.address or ""},
        join(("routing", "ospf", "interfaces", row.interface)),
        None if row.uptime_ms is None else row.uptime_ms / 1000,
    )


def _concerns(config: RouterConfig) -> bool:
    return config.routing.ospf is not None and bool(config.routing.ospf.interfaces)


CHECKS = (Check("OSPF adjacencies", _read, adjacencies, _concerns),)
