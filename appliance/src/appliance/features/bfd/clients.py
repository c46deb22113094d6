"""What ends with a BFD session: sessions, adjacencies and static routes. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.features.bgp.sessions import alive, evidence
from appliance.features.ospf.adjacent import ADJACENCIES
from appliance.impact.change import Change
from appliance.impact.facts import Fact
from appliance.impact.needed import Now
from appliance.impact.result import Kind
from frr_config.protocols.bfd.augments import profile_of
from frr_config.protocols.bfd.state import BfdSession, bfd_sessions
from frr_config.types import IpAddress

SESSIONS: Fact[tuple[BfdSession, ...]] = Fact("the BFD sessions", lambda live: live.routing.ask(bfd_sessions))
_SHOWN = 3


@dataclass(frozen=True)
class Client:
    """What ends with the session."""

    what: str
    path: str
    kind: Kind
    now: Callable[[], Now]


def clients(change: Change, config: RouterConfig, neighbor: str) -> Iterator[Client]:
    """Of the BFD session with a BGP neighbor or a next hop."""
    bgp = config.routing.bgp
    one = None if bgp is None else bgp.neighbors.get(neighbor)
    if bgp is not None and one is not None and one.enabled:
        group = bgp.peer_groups.get(one.peer_group) if one.peer_group is not None else None
        if profile_of(one) or profile_of(group):
            what = f"the BGP session with {neighbor}, which ends with its BFD session,"
            path = join(["routing", "bgp", "neighbors", neighbor])
            yield Client(what, path, "session", partial(_bgp, change, neighbor))
    prefixes = [
        prefix
        for prefix, route in config.routing.static.items()
        if any(hop.address == neighbor and profile_of(hop) for hop in route.next_hops)
    ]
    if prefixes:
        more = f" and {len(prefixes) - _SHOWN:,} more" if len(prefixes) > _SHOWN else ""
        what = f"the static route to {', '.join(prefixes[:_SHOWN])}{more} by {neighbor}, which BFD watches,"
        path = join(["routing", "static", *(prefixes if len(prefixes) == 1 else ())])
        yield Client(what, path, "routes", partial(_watched, change, neighbor))


def over_ospf(change: Change, config: RouterConfig) -> Iterator[tuple[Client, IpAddress]]:
    """The adjacencies on interfaces that are watched, with the addresses of neighbors that OSPF found."""
    ospf = config.routing.ospf
    names = [name for name, one in ospf.interfaces.items() if profile_of(one) is not None] if ospf else []
    known = change.facts.of(ADJACENCIES) if names else None
    for one in () if known is None else known.neighbors:
        if one.interface in names and one.address is not None and one.full:
            what = f"the OSPF adjacency with {one.router_id}, which ends with its BFD session,"
            path = join(["routing", "ospf", "interfaces", one.interface])
            now = partial(_watched, change, one.address, f"{one.router_id} is {one.state}")
            yield Client(what, path, "session", now), ip_address(one.address)


def _is_up(change: Change, neighbor: str) -> bool | None:
    """Whether there is a BFD session that is up: what never came up takes nothing with it."""
    known = change.facts.of(SESSIONS)
    vrf = _vrf(change)
    return (
        None
        if known is None
        else any(one.peer == neighbor and (one.vrf or "") == vrf and one.state == "up" for one in known)
    )


def _vrf(change: Change) -> str:
    """The VRF that the change is seen in."""
    whole = change.whole
    return "" if whole is None else next((vrf for vrf, one in whole.in_each_vrf() if one is change), "")


def _bgp(change: Change, neighbor: str) -> Now:
    works = alive(change, neighbor)
    if works is not False:
        watched = _is_up(change, neighbor)
        works = watched if watched is not True else works
    return Now(works, evidence(change, neighbor))


def _watched(change: Change, neighbor: str, shown: str = "") -> Now:
    works = _is_up(change, neighbor)
    return Now(works, shown or ("its BFD session is up" if works else ""))
