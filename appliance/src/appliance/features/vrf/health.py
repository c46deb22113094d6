"""Sessions and adjacencies of VRFs, by the checks of those of the default one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from appliance.config.document import RouterConfig
from appliance.config.vrf_view import pointer_in, seen_in
from appliance.features.bgp.health import down
from appliance.features.ospf.health import Neighbors, adjacencies
from appliance.health.check import Check, Finding, Look
from appliance.routing.rows import ospf_neighbors
from frr_config.protocols.bgp.session import BgpSession, sessions

if TYPE_CHECKING:
    from appliance.agent.router import Router

R = TypeVar("R")
Sessions = Mapping[str, BgpSession]


def _speaking_bgp(config: RouterConfig) -> list[str]:
    """VRFs with neighbors."""
    return [
        name for name, one in config.vrfs.items() if one.routing.bgp is not None and one.routing.bgp.neighbors
    ]


def _speaking_ospf(config: RouterConfig) -> list[str]:
    """VRFs with interfaces that run OSPF."""
    return [
        name
        for name, one in config.vrfs.items()
        if one.routing.ospf is not None and one.routing.ospf.interfaces
    ]


def _sessions(router: Router) -> dict[str, Sessions]:
    names = _speaking_bgp(router.engine.running_config)
    return router.routing.ask(lambda frr: {name: sessions(frr.in_vrf(name)) for name in names})


def _neighbors(router: Router) -> dict[str, Neighbors]:
    names = _speaking_ospf(router.engine.running_config)
    rows = router.routing.ask(
        lambda frr: {name: tuple(ospf_neighbors(frr.in_vrf(name).ospf_neighbors())) for name in names}
    )
    return {
        name: {f"{row.router_id} on {row.interface}": row for row in found} for name, found in rows.items()
    }


def bgp_down(look: Look[Mapping[str, Sessions]]) -> Iterator[Finding]:
    """Neighbors of VRFs that are enabled and not established."""
    return _each(look, _speaking_bgp(look.config), down)


def ospf_down(look: Look[Mapping[str, Neighbors]]) -> Iterator[Finding]:
    """Adjacencies of VRFs that are lost or do not become full."""
    return _each(look, _speaking_ospf(look.config), adjacencies)


def _each(
    look: Look[Mapping[str, R]], names: Iterable[str], judges: Callable[[Look[R]], Iterable[Finding]]
) -> Iterator[Finding]:
    """What a check of the default VRF finds in each of these, with the VRF named in its text."""
    for name in names:
        if name not in look.now:
            continue  # it was added after the reading
        where = f" in VRF {name}"
        standing = {
            (kind, what.removesuffix(where)): for_s
            for (kind, what), for_s in look.standing.items()
            if what.endswith(where)
        }
        before = None if look.before is None else look.before.get(name)
        own = Look(look.now[name], seen_in(look.config, name), before, look.elapsed_s, standing)
        for finding in judges(own):
            yield replace(
                finding,
                object=finding.object + where,
                summary=f"VRF {name}: {finding.summary}",
                pointer=pointer_in(name, finding.pointer),
            )


CHECKS = (
    Check("BGP sessions of VRFs", _sessions, bgp_down, lambda config: bool(_speaking_bgp(config))),
    Check("OSPF adjacencies of VRFs", _neighbors, ospf_down, lambda config: bool(_speaking_ospf(config))),
)
