"""BGP: neighbors, peer groups and the policy they name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from typing import Literal

from appliance.config.context import Context, family_of, family_title, network
from appliance.config.pointer import escape
from appliance.errors import Problem
from appliance.features.policy.checks import prefix_list
from frr_config.protocols.bgp.effective import FAMILIES, Peer, peer_in, peers_in
from frr_config.protocols.bgp.model import Bgp, Neighbor, NeighborFamily, NeighborSettings, PeerGroup
from frr_config.types import DEFAULT_VRF

AS_TRANS = 23456
_AS_TRANS_IS_NONE = (
    f"{AS_TRANS} (AS_TRANS) only stands for 4-byte AS numbers: give the AS number itself (RFC 6793)"
)
DISTANCES = ("ebgp_multihop", "ttl_security_hops")
_ROUTE_MAP = "route-map"
"""What may follow ``no import vrf`` besides a VRF."""
Kind = Literal["internal", "external"]


def check_vrf(context: Context) -> Iterator[Problem]:
    """The instance, its peer groups and each neighbor together with its group."""
    bgp = context.config.routing.bgp
    if bgp is None:
        return
    path = "/routing/bgp"
    if bgp.asn == AS_TRANS:
        yield Problem(f"{path}/asn", _AS_TRANS_IS_NONE)
    if bgp.router_id is not None and int(bgp.router_id) == 0:
        yield Problem(f"{path}/router_id", "0.0.0.0 is not a router ID")
    if bgp.router_id is None and not context.has_ipv4():
        yield Problem(f"{path}/router_id", "is required: no interface has an IPv4 address to take it from")
    if bgp.ipv4_unicast.redistribute.ospf is not None and context.config.routing.ospf is None:
        yield Problem(f"{path}/ipv4_unicast/redistribute/ospf", "OSPF does not run on this router")
    for index, prefix in enumerate(bgp.ipv6_unicast.networks):
        if network(prefix).network_address.is_link_local:
            yield Problem(
                f"{path}/ipv6_unicast/networks/{index}", f"{prefix} is link-local: it stays on its link"
            )
    yield from _imports(context, bgp)
    for name, group in bgp.peer_groups.items():
        yield from _peer_group(context, bgp, name, group)
    for address, neighbor in bgp.neighbors.items():
        yield from _neighbor(context, bgp, address, neighbor)


def _imports(context: Context, bgp: Bgp) -> Iterator[Problem]:
    """Only from VRFs in which BGP runs. FRR exchanges the routes through the instance of the default VRF."""
    default = context.beside(DEFAULT_VRF)
    for family in FAMILIES:
        for index, source in enumerate(getattr(bgp, family).import_vrfs):
            path = f"/routing/bgp/{family}/import_vrfs/{index}"
            there = context.beside(source)
            name = "the default VRF" if source == DEFAULT_VRF else f"VRF {source}"
            if _ROUTE_MAP.startswith(source):
                message = (
                    f"FRR reads {source} here as short for its word {_ROUTE_MAP}, and could not remove the"
                    " import: give the VRF another name"
                )
                yield Problem(path, message)
            elif source == (context.vrf or DEFAULT_VRF):
                yield Problem(path, f"{name} is this VRF itself")
            elif there is not None and there.config.routing.bgp is None:
                yield Problem(path, f"BGP does not run in {name}: there is nothing to import")
            elif default is not None and default.config.routing.bgp is None:
                yield Problem(path, "needs BGP in the default VRF too: FRR exchanges the routes through it")


def _peer_group(context: Context, bgp: Bgp, name: str, group: PeerGroup) -> Iterator[Problem]:
    path = f"/routing/bgp/peer_groups/{escape(name)}"
    try:
        ip_address(name)
    except ValueError:
        pass
    else:
        yield Problem(path, "the name of a peer group cannot be an address")
    yield from _settings(context, group, path)
    members = [peer for peer in peers_in(bgp) if peer.own.peer_group == name]
    if group.remote_asn is not None:
        yield from _by_kind(_kind(bgp, group.remote_asn), group, path, "its members are")
    elif members:
        first = members[0]
        yield from _by_kind(_kind(bgp, first.remote_asn), group, path, f"its member {first.address} is")
    elif any(
        one is not None and one.route_reflector_client for one in (group.ipv4_unicast, group.ipv6_unicast)
    ):
        yield from _by_kind("internal", group, path, "the clients of a route reflector are")
    yield from _distances(name, group, members, path)


def _distances(name: str, group: PeerGroup, members: Sequence[Peer], path: str) -> Iterator[Problem]:
    """bgpd has one distance for a neighbor, of either sort, and refuses the other sort beside its group's."""
    for of_group, of_member in (DISTANCES, DISTANCES[::-1]):
        if getattr(group, of_group) is None:
            continue
        others = [peer.address for peer in members if getattr(peer.own, of_member) is not None]
        leave = "leave one of them out"
        for address in others:
            at = f"/routing/bgp/neighbors/{escape(address)}/{of_member}"
            yield Problem(at, f"excludes {of_group}, which peer group {name} sets: {leave}")
        if others:
            who = f"its member {others[0]}" + (" and others of its members" if others[1:] else "")
            sets = "set" if others[1:] else "sets"
            yield Problem(f"{path}/{of_group}", f"excludes {of_member}, which {who} {sets}: {leave}")


def _neighbor(context: Context, bgp: Bgp, address: str, neighbor: Neighbor) -> Iterator[Problem]:
    path = f"/routing/bgp/neighbors/{escape(address)}"
    parsed = ip_address(address)
    if parsed in context.own:
        yield Problem(path, f"{address} is this router's own address, on {context.own[parsed]}")
        return
    if parsed.is_multicast or parsed.is_unspecified or parsed.is_loopback:
        message = f"{address} is a multicast, unspecified or loopback address, which no neighbor has"
        yield Problem(path, message)
        return
    if parsed.version == 6 and parsed.is_link_local:
        yield Problem(path, f"{address} is link-local: give the neighbor's global address")
        return
    effective = peer_in(bgp, address)
    group = effective.group
    if neighbor.peer_group is not None and group is None:
        return
    if neighbor.remote_asn is None and (group is None or group.remote_asn is None):
        message = (
            "is required" if group is None else f"is required: peer group {neighbor.peer_group} sets none"
        )
        yield Problem(f"{path}/remote_asn", message)
        return
    if neighbor.remote_asn is not None and group is not None and group.remote_asn is not None:
        message = f"peer group {neighbor.peer_group} already sets the remote AS of its members"
        yield Problem(f"{path}/remote_asn", message)
        return
    if not any(effective.exchanges(family) for family in FAMILIES):
        yield Problem(path, "exchanges no address family: give it ipv4_unicast or ipv6_unicast")
    yield from _settings(context, neighbor, path)
    source = effective.update_source
    if source is not None and _is_address(source) and family_of(source) != family_of(address):
        family = family_title(family_of(address))
        message = f"the neighbor has an {family} address, and {source} is not one"
        if neighbor.update_source is None:
            message += f": peer group {neighbor.peer_group} sets it. Set another one here"
        yield Problem(f"{path}/update_source", message)
    kind = _kind(bgp, effective.remote_asn)
    yield from _by_kind(kind, neighbor, path, "this neighbor is")
    if kind == "external" and effective.distance == (None, None) and context.connected(address) is None:
        yield Problem(
            path, f"{address} is in no connected network; an eBGP neighbor further away needs ebgp_multihop"
        )


def _kind(bgp: Bgp, remote_asn: object) -> Kind | None:
    if remote_asn is None:
        return None
    if remote_asn in ("internal", "external"):
        return "internal" if remote_asn == "internal" else "external"
    return "internal" if remote_asn == bgp.asn else "external"


def _by_kind(kind: Kind | None, settings: NeighborSettings, path: str, who: str) -> Iterator[Problem]:
    """Settings of a neighbor or peer group that only an iBGP or only an eBGP neighbor can have."""
    if kind is None:
        return
    if kind == "internal" and settings.ebgp_multihop is not None:
        yield Problem(f"{path}/ebgp_multihop", f"is for eBGP; {who} in the same AS")
    for family in FAMILIES:
        exchanged: NeighborFamily | None = getattr(settings, family)
        if exchanged is None:
            continue
        if kind == "external" and exchanged.route_reflector_client:
            at = f"{path}/{family}/route_reflector_client"
            yield Problem(at, f"is for iBGP (RFC 4456); {who} in another AS")
        if kind == "internal" and exchanged.remove_private_as:
            yield Problem(f"{path}/{family}/remove_private_as", f"is for eBGP; {who} in the same AS")


def _settings(context: Context, settings: NeighborSettings, path: str) -> Iterator[Problem]:
    """The objects that a neighbor or peer group names are of the right kind."""
    source = settings.update_source
    if source is not None:
        at = f"{path}/update_source"
        if source == "any":
            yield Problem(at, "FRR takes no interface called any here: give the interface another name")
        if _is_address(source) and ip_address(source) not in context.own:
            yield Problem(at, f"{source} is not an address of this router")
    if settings.remote_asn == AS_TRANS:
        at = f"{path}/remote_asn"
        yield Problem(at, _AS_TRANS_IS_NONE)
    for family in FAMILIES:
        exchanged = getattr(settings, family)
        if exchanged is None:
            continue
        at, short = f"{path}/{family}", family.removesuffix("_unicast")
        yield from prefix_list(context, exchanged.prefix_list_in, short, f"{at}/prefix_list_in")
        yield from prefix_list(context, exchanged.prefix_list_out, short, f"{at}/prefix_list_out")


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
