"""The effect of a change on OSPF adjacencies and on what they advertise. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from ipaddress import IPv4Address, IPv4Interface
from itertools import islice
from typing import NamedTuple

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.features.ospf.adjacent import ADJACENCIES
from appliance.features.ospf.preference import preferred
from appliance.features.policy.changed import ChangedPolicy
from appliance.features.static.gone import gone
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change, is_up
from appliance.impact.needed import Needed, Now, Packet, is_new
from appliance.impact.result import Finding
from appliance.state.ospf import OspfNeighborState
from frr_config.protocols.ospf.model import Ospf, OspfInterface

_PROTOCOL = 89
_DEFAULT = "0.0.0.0/0"
_SHOWN = 5
_AGREED = {
    "area": "area",
    "hello_interval_s": "hello interval",
    "dead_interval_s": "dead interval",
    "authentication": "authentication",
    "network_type": "network type",
}
"""Settings that must be the same on both ends."""
_ALL_ROUTERS = IPv4Address("224.0.0.5")
"""Where hellos are sent."""
_UNICAST_IN = "the adjacency has to be formed again: an existing one is kept up by multicast, which passes"
"""Access lists do not filter received multicast: hellos and floods arrive, database descriptions do not."""


def adjacencies(change: Change) -> Iterator[Finding]:
    """A finding for each interface whose adjacencies are lost."""
    was, now = _speaking(change.before), _speaking(change.after)
    for name, before in was.items():
        change.in_time()
        reason, field = _reason(change, name, before, now.get(name))
        if not reason:
            continue
        there = adjacent(change, name)
        if there is None:
            continue
        yield Finding(
            grade="certain" if there.evidence else "possible",
            kind="session",
            path=_path(change, name, field),
            text=f"OSPF on {name} loses the adjacency with {there.who}: {reason}.",
            depends_on="" if there.evidence else "there is one now, which the router does not report",
            evidence=there.evidence,
        )


class Adjacent(NamedTuple):
    """The neighbors on an interface with which there is an adjacency."""

    who: str
    evidence: str
    """Empty where the router does not report them."""


def adjacent(change: Change, name: str) -> Adjacent | None:
    """None where there is no adjacency."""
    neighbors = _neighbors(change, name)
    if neighbors is None:
        return Adjacent("its neighbors", "")
    if not neighbors:
        return None
    states = (f"{one.router_id} is {one.state}" for one in neighbors)
    return Adjacent(", ".join(one.router_id for one in neighbors), "; ".join(states))


def is_kept(change: Change, name: str) -> bool:
    """Whether OSPF runs on the interface before and after, and none of its settings ends adjacencies."""
    was, now = (_on(config, name) for config in (change.before, change.after))
    return was is not None and now is not None and not _reason(change, name, was, now)[0]


def _path(change: Change, name: str, field: str) -> str:
    if field == "mtu":
        return join(["interfaces", name, "mtu"])
    ospf = change.after.routing.ospf
    if ospf is None or name not in ospf.interfaces:
        return join(["routing", "ospf"])
    return join(["routing", "ospf", "interfaces", name, *([field] if field else [])])


def _speaking(config: RouterConfig) -> dict[str, OspfInterface]:
    """Interfaces on which there can be adjacencies."""
    ospf = config.routing.ospf
    if ospf is None:
        return {}
    return {name: one for name, one in ospf.interfaces.items() if _on(config, name) is not None}


def _on(config: RouterConfig, name: str) -> OspfInterface | None:
    """The settings of an interface on which there can be adjacencies."""
    ospf = config.routing.ospf
    one = None if ospf is None else ospf.interfaces.get(name)
    if one is None or one.passive or not is_up(config, name) or _address(config, name) is None:
        return None
    return one


def _address(config: RouterConfig, name: str) -> str | None:
    return next((one for one in config.interfaces[name].addresses if ":" not in one), None)


def _reason(change: Change, name: str, was: OspfInterface, now: OspfInterface | None) -> tuple[str, str]:
    """The reason, and the field that causes it."""
    ospf = change.after.routing.ospf
    if ospf is None:
        return "OSPF is removed", ""
    if now is None:
        settings = ospf.interfaces.get(name)
        if settings is None:
            return "OSPF no longer runs there", ""
        if settings.passive:
            return "it becomes passive", "passive"
        return "the interface is down or has no IPv4 address", ""
    for field, title in _AGREED.items():
        if getattr(was, field) != getattr(now, field):
            return f"its {title} changes; the adjacency comes back once the neighbor has the same", field
    if (kind := _area_type(ospf, now.area)) != _area_type(change.before.routing.ospf, was.area):
        return f"area {now.area} becomes {kind}; the adjacency comes back once the neighbor's does", "area"
    before, after = change.before.interfaces[name], change.after.interfaces[name]
    # A different order leaves the addresses the same.
    if _address(change.before, name) not in after.addresses:
        return f"its address becomes {_address(change.after, name)}", ""
    if before.mtu != after.mtu:
        return (
            f"the adjacency is formed again with MTU {after.mtu:,}, and stays in ExStart until the "
            "neighbor's MTU is the same",
            "mtu",
        )
    if change.is_remade(name):
        return f"{name} is recreated; the adjacency comes back", ""
    earlier = change.before.routing.ospf
    if earlier is not None and earlier.router_id != ospf.router_id:
        return "the router ID changes; the adjacency comes back", ""
    return "", ""


def _area_type(ospf: Ospf | None, area: str) -> str:
    """The settings on which routers of one area must agree."""
    settings = None if ospf is None else ospf.areas.get(area)
    return "normal" if settings is None else settings.type


def _neighbors(change: Change, name: str) -> list[OspfNeighborState] | None:
    """The neighbors with a present adjacency; None when the router does not answer."""
    known = change.facts.of(ADJACENCIES)
    if known is None:
        return None
    return [one for one in known.neighbors if one.interface == name and one.full]


def needed(change: Change, after: bool) -> Iterator[Needed]:
    """Packets of neighbors: hellos are multicast, later packets are not."""
    config = change.after if after else change.before
    speaking, earlier = _speaking(config), _speaking(change.before)
    for name in speaking:
        change.in_time()
        text = _address(config, name)
        if text is None:
            continue
        own = IPv4Interface(text)
        known = _neighbors(change, name) if name in earlier else []
        addresses = [IPv4Address(one.address) for one in known or () if one.address]
        for other in addresses or [one for one in islice(own.network.hosts(), 2) if one != own.ip][:1]:
            for incoming in (True, False):
                source, destination = (other, own.ip) if incoming else (own.ip, other)
                yield Needed(
                    f"OSPF on {name}",
                    join(["routing", "ospf", "interfaces", name]),
                    "session",
                    name,
                    "in" if incoming else "out",
                    ((Packet(source, destination, _PROTOCOL), Packet(source, _ALL_ROUTERS, _PROTOCOL)),),
                    partial(_now, change, name) if name in earlier else is_new,
                    _UNICAST_IN if incoming and name in earlier else "",
                )


def _now(change: Change, name: str) -> Now:
    neighbors = _neighbors(change, name)
    if neighbors is None:
        return Now(None)
    return Now(bool(neighbors), "; ".join(f"{one.router_id} is {one.state}" for one in neighbors))


def announced(change: Change) -> Iterator[Finding]:
    """Networks and routes that OSPF no longer advertises, or advertises by other rules."""
    was, now = change.before.routing.ospf, change.after.routing.ospf
    if was is None or now is None or not _speaking(change.after):
        return
    lost, filtered = list(dict.fromkeys(_unannounced(change, was, now))), _filtered(change, was, now)
    known = change.facts.of(ADJACENCIES) if lost or filtered else None
    if known is not None and not any(one.full for one in known.neighbors):
        return
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    if lost:
        yield Finding(
            grade="possible",
            kind="routes",
            path=join(["routing", "ospf"]),
            text=f"OSPF no longer announces {', '.join(lost[:_SHOWN])}{more} to its neighbors.",
            depends_on="they have no other route there",
        )
    if filtered:
        yield Finding(
            grade="possible",
            kind="routes",
            path=join(["routing", "ospf"]),
            text=f"The rules by which OSPF announces routes to its neighbors change: {'; '.join(filtered)}.",
            depends_on="the new rules deny or change some of these routes, which is not checked",
        )


def _unannounced(change: Change, was: Ospf, now: Ospf) -> Iterator[str]:
    kept = {_network(change.after, name) for name in now.interfaces}
    for name in was.interfaces:
        change.in_time()
        network = _network(change.before, name)
        # Another interface may then have the network, for example after a rename.
        if network is not None and name not in now.interfaces and network not in kept:
            yield network
    from_table = gone(change)
    if (had := was.default_information) is not None:
        has = now.default_information
        if has is None or (not has.always and _DEFAULT in from_table.entirely):
            yield "the default route"
        elif had.always and not has.always:
            yield "the default route (while the router has none itself)"
    for protocol in type(was.redistribute).model_fields:
        if getattr(was.redistribute, protocol) is None:
            continue
        if getattr(now.redistribute, protocol) is None:
            yield f"{protocol} routes"
        else:
            # ospfd takes a default route only by default_information.
            taken = (prefix for prefix in from_table.by.get(protocol, ()) if prefix != _DEFAULT)
            yield from (prefix for prefix in taken if ":" not in prefix)
    for area, one in now.areas.items():
        earlier = was.areas.get(area)
        if one.no_summary and not (earlier is not None and earlier.no_summary):
            yield f"routes of other areas in area {area}, except a default route,"


def _network(config: RouterConfig, name: str) -> str | None:
    """How an interface that is up is advertised."""
    text = _address(config, name) if is_up(config, name) else None
    return None if text is None else str(IPv4Interface(text).network)


def _filtered(change: Change, was: Ospf, now: Ospf) -> list[str]:
    policy, said = ChangedPolicy(change), []
    for protocol in type(was.redistribute).model_fields:
        before, after = getattr(was.redistribute, protocol), getattr(now.redistribute, protocol)
        if before is not None and after is not None:
            said.append(policy.of_filter(f"{protocol} routes", before.route_map, after.route_map))
    if was.default_information is not None and now.default_information is not None:
        maps = was.default_information.route_map, now.default_information.route_map
        said.append(policy.of_filter("the default route", *maps))
    return [one for one in said if one]


ANALYSES = (
    Analysis("OSPF adjacencies", adjacencies, each_vrf=True),
    Analysis("networks OSPF announces", announced, each_vrf=True),
    Analysis("paths that OSPF prefers", preferred, each_vrf=True),
)
