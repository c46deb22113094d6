"""NAT in VPP. Pure.

VPP drops a packet that comes in by an outside interface and belongs to no session and no mapping, unless it
is for an excepted address: the router's own addresses on that side are excepted. Passing these packets on
instead, which VPP calls forwarding, would leave sessions from inside without translation.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from appliance.config.document import RouterConfig
from appliance.config.interface_address import address_of
from appliance.dataplane.wanted import Wanted
from appliance.features.nat.addresses import forward_address, overload, pool_addresses
from appliance.features.nat.model import MOST_SESSIONS
from appliance.features.nat.model import Nat as NatSettings
from vpp_config import VppObject
from vpp_config.objects.nat import Nat
from vpp_config.objects.nat_interface import NatInterface
from vpp_config.objects.nat_mapping import NatMapping
from vpp_config.objects.nat_own_address import NatOwnAddress
from vpp_config.objects.nat_pool import NatPool

PATHS = {kind.kind: lambda _: "/nat" for kind in (Nat, NatInterface, NatMapping, NatOwnAddress, NatPool)}


def objects(wanted: Wanted) -> Iterator[VppObject]:
    """NAT with its timeouts, both sides, the outside addresses and the mappings inside."""
    config, nat = wanted.config, wanted.config.nat
    if nat is None:
        return
    times = nat.timeouts
    sessions = nat.sessions_per_worker or MOST_SESSIONS
    yield Nat(sessions, times.udp_s, times.tcp_established_s, times.tcp_transitory_s, times.icmp_s)
    addresses = {*pool_addresses(nat), *overload(config, nat).values()}
    if addresses:
        yield NatPool(tuple(sorted(addresses)))
    for name in nat.inside:
        if name in config.interfaces:
            yield NatInterface(name, "inside")
    for name in nat.outside:
        if name in config.interfaces:
            yield NatInterface(name, "outside")
    for address in sorted(_own_outside(config, nat)):
        yield NatOwnAddress(address)
    for static in nat.static.values():
        yield NatMapping(IPv4Address(static.outside_address), IPv4Address(static.inside_address))
    for forward in nat.port_forwards.values():
        if (outside := forward_address(config, forward)) is not None:
            yield NatMapping(
                outside,
                IPv4Address(forward.inside_address),
                forward.protocol,
                forward.outside_port,
                forward.inside_port or forward.outside_port,
            )


def _own_outside(config: RouterConfig, nat: NatSettings) -> set[IPv4Address]:
    """IPv4 addresses of the outside interfaces."""
    found = (
        address_of(text).ip
        for name in nat.outside
        if (settings := config.interfaces.get(name)) is not None
        for text in settings.addresses
    )
    return {address for address in found if isinstance(address, IPv4Address)}
