"""The BGP instance as lines."""

from __future__ import annotations

from collections.abc import Iterator

from frr_config.line import Line
from frr_config.protocols.augments import lines_of
from frr_config.protocols.bgp.model import (
    BGP_SESSION,
    Bgp,
    BgpFamily,
    BgpTimers,
    Neighbor,
    NeighborFamily,
    NeighborSettings,
)
from frr_config.rendered_text import one_spaced, revealed
from frr_config.version import FrrVersion

POLICY_DELAY_S = 1
"""Seconds from the last change of a route map until bgpd applies it to the routes it already has."""

# The default of Debian's builds; FRR does not print a value that equals its own default.
_DEFAULT_TIMERS = BgpTimers()
_DEFAULT_ALLOWAS_IN = 3


def bgp_lines(bgp: Bgp, version: FrrVersion, vrf: str = "") -> Iterator[Line]:
    """``router bgp`` and everything below it, for the default VRF or another. Raises RenderError."""
    opener = f"router bgp {bgp.asn}{f' vrf {vrf}' if vrf else ''}"
    yield Line((), f"bgp route-map delay-timer {POLICY_DELAY_S}")
    yield Line((), opener)
    for text in _instance(bgp, version):
        yield Line((opener,), text)
    for family in ("ipv4", "ipv6"):
        context = (opener, f"address-family {family} unicast")
        for text in _family(bgp, family):
            yield Line(context, text)


def _instance(bgp: Bgp, version: FrrVersion) -> Iterator[str]:
    if bgp.router_id is not None:
        yield f"bgp router-id {bgp.router_id}"
    if not bgp.ebgp_requires_policy:
        yield "no bgp ebgp-requires-policy"
    if _reflects(bgp):
        # Without it bgpd ignores what route maps set on routes that it reflects.
        yield "bgp route-reflector allow-outbound-policy"
    # Families are activated one by one, IPv4 like any other.
    yield "no bgp default ipv4-unicast"
    if bgp.timers != _DEFAULT_TIMERS:
        yield f"timers bgp {bgp.timers.keepalive_s} {bgp.timers.hold_s}"
    for name, group in bgp.peer_groups.items():
        yield f"neighbor {name} peer-group"
        remote_as = _remote_as(bgp, name)
        if remote_as is not None:
            yield f"neighbor {name} remote-as {remote_as}"
        yield from (f"neighbor {name} {text}" for text in _settings(group, version))
    for address, neighbor in bgp.neighbors.items():
        yield from (f"neighbor {address} {text}" for text in _neighbor(bgp, neighbor, version))


def _reflects(bgp: Bgp) -> bool:
    settings: list[NeighborSettings] = [*bgp.peer_groups.values(), *bgp.neighbors.values()]
    families = (family for one in settings for family in (one.ipv4_unicast, one.ipv6_unicast))
    return any(family is not None and family.route_reflector_client for family in families)


def _neighbor(bgp: Bgp, neighbor: Neighbor, version: FrrVersion) -> Iterator[str]:
    of_group = None if neighbor.peer_group is None else _remote_as(bgp, neighbor.peer_group)
    if neighbor.remote_asn is not None and of_group is None:
        yield f"remote-as {neighbor.remote_asn}"
    if neighbor.peer_group is not None:
        yield f"peer-group {neighbor.peer_group}"
    if not neighbor.enabled:
        yield "shutdown"
    group = None if neighbor.peer_group is None else bgp.peer_groups.get(neighbor.peer_group)
    shared = set() if group is None else set(_distance(group))
    yield from (text for text in _settings(neighbor, version) if text not in shared)


def _remote_as(bgp: Bgp, group_name: str) -> int | str | None:
    """The remote AS that a peer group is given.

    A group of internal neighbors gets one: without it, bgpd 8.4 shows a multihop setting that was never
    configured. So does a group that is still without members and reflects routes to them: bgpd accepts that
    only of internal neighbors.
    """
    group = bgp.peer_groups.get(group_name)
    if group is None or group.remote_asn is not None:
        return None if group is None else group.remote_asn
    asns = {neighbor.remote_asn for neighbor in bgp.neighbors.values() if neighbor.peer_group == group_name}
    families = (group.ipv4_unicast, group.ipv6_unicast)
    reflects = any(family is not None and family.route_reflector_client for family in families)
    return "internal" if (asns or reflects) and asns <= {"internal", bgp.asn} else None


def _settings(settings: NeighborSettings, version: FrrVersion) -> Iterator[str]:
    if settings.description:
        yield f"description {one_spaced(settings.description)}"
    if settings.password is not None:
        yield f"password {revealed(settings.password)}"
    if settings.passive:
        yield "passive"
    yield from _distance(settings)
    if settings.update_source is not None:
        yield f"update-source {settings.update_source}"
    if settings.timers is not None:
        yield f"timers {settings.timers.keepalive_s} {settings.timers.hold_s}"
    if settings.connect_retry_s is not None:
        yield f"timers connect {settings.connect_retry_s}"
    yield from lines_of(BGP_SESSION, settings, version)


def _distance(settings: NeighborSettings) -> Iterator[str]:
    """bgpd does not print a neighbor's where its peer group has the same."""
    if settings.ebgp_multihop is not None:
        yield f"ebgp-multihop {settings.ebgp_multihop}"
    if settings.ttl_security_hops is not None:
        yield f"ttl-security hops {settings.ttl_security_hops}"


def _family(bgp: Bgp, name: str) -> Iterator[str]:
    family: BgpFamily = getattr(bgp, f"{name}_unicast")
    for prefix in family.networks:
        yield f"network {prefix}"
    for protocol in ("connected", "static", "ospf"):
        redistribute = getattr(family.redistribute, protocol)
        if redistribute is not None:
            metric = "" if redistribute.metric is None else f" metric {redistribute.metric}"
            route_map = "" if redistribute.route_map is None else f" route-map {redistribute.route_map}"
            yield f"redistribute {protocol}{metric}{route_map}"
    for group_name, peer_group in bgp.peer_groups.items():
        exchanged: NeighborFamily | None = getattr(peer_group, f"{name}_unicast")
        if exchanged is not None:
            yield f"neighbor {group_name} activate"
            yield from (f"neighbor {group_name} {text}" for text in _exchanged(exchanged))
    for address, neighbor in bgp.neighbors.items():
        exchanged = getattr(neighbor, f"{name}_unicast")
        if exchanged is None:
            continue
        group = bgp.peer_groups.get(neighbor.peer_group) if neighbor.peer_group is not None else None
        of_group = None if group is None else getattr(group, f"{name}_unicast")
        if of_group is None:
            yield f"neighbor {address} activate"
        said = set() if of_group is None else {text for text in _exchanged(of_group) if "route-map" in text}
        # bgpd drops a neighbor's route map when its peer group has the same one.
        yield from (f"neighbor {address} {text}" for text in _exchanged(exchanged) if text not in said)
    yield f"maximum-paths {family.maximum_paths}"
    yield f"maximum-paths ibgp {family.maximum_paths_ibgp}"
    if family.import_route_map is not None:
        yield f"import vrf route-map {family.import_route_map}"
    yield from (f"import vrf {source}" for source in family.import_vrfs)


def _exchanged(family: NeighborFamily) -> Iterator[str]:
    flags = {
        "next-hop-self": family.next_hop_self,
        "soft-reconfiguration inbound": family.soft_reconfiguration_inbound,
        "route-reflector-client": family.route_reflector_client,
        "default-originate": family.default_originate,
        "remove-private-AS": family.remove_private_as,
    }
    yield from (text for text, wanted in flags.items() if wanted)
    if family.allowas_in is not None:
        yield "allowas-in" if family.allowas_in == _DEFAULT_ALLOWAS_IN else f"allowas-in {family.allowas_in}"
    if family.maximum_prefix is not None:
        warning_only = " warning-only" if family.maximum_prefix_warning_only else ""
        yield f"maximum-prefix {family.maximum_prefix}{warning_only}"
    policies = {
        "prefix-list {} in": family.prefix_list_in,
        "prefix-list {} out": family.prefix_list_out,
        "route-map {} in": family.route_map_in,
        "route-map {} out": family.route_map_out,
    }
    yield from (text.format(name) for text, name in policies.items() if name is not None)
