"""NAT in VPP. Pure.

VPP drops what comes in by an outside interface and belongs to no session and no mapping, unless it is for an
address that is excepted: the router's own on that side are. Forwarding such packets instead, which VPP calls
forwarding, would leave sessions from inside without translation.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

import vpp_config as vpp
from appliance.config.document import RouterConfig
from appliance.config.interface_address import address_of
from appliance.dataplane.wanted import Wanted
from appliance.features.nat.addresses import forward_address, overload, pool_addresses
from appliance.features.nat.model import MOST_SESSIONS, Nat

PATHS = {
    kind.kind: lambda _: "/nat"
    for kind in (vpp.Nat, vpp.NatInterface, vpp.NatMapping, vpp.NatOwnAddress, vpp.NatPool)
}


def objects(wanted: Wanted) -> Iterator[vpp.VppObject]:
    """NAT with its timeouts, both sides, the outside addresses and what leads inside."""
    config, nat = wanted.config, wanted.config.nat
    if nat is None:
        return
    times = nat.timeouts
    sessions = nat.sessions_per_worker or MOST_SESSIONS
    yield vpp.Nat(sessions, times.udp_s, times.tcp_established_s, times.tcp_transitory_s, times.icmp_s)
    addresses = {*pool_addresses(nat), *overload(config, nat).values()}
    if addresses:
        yield vpp.NatPool(tuple(sorted(addresses)))
    for name in nat.inside:
        if name in config.interfaces:
            yield vpp.NatInterface(name, "inside")
    for name in nat.outside:
        if name in config.interfaces:
            yield vpp.NatInterface(name, "outside")
    for address in sorted(_own_outside(config, nat)):
        yield vpp.NatOwnAddress(address)
    for static in nat.static.values():
        yield vpp.NatMapping(IPv4Address(static.outside_address), IPv4Address(static.inside_address))
    for forward in nat.port_forwards.values():
        if (outside := forward_address(config, forward)) is not None:
            yield vpp.NatMapping(
                outside,
                IPv4Address(forward.inside_address),
                forward.protocol,
                forward.outside_port,
                forward.inside_port or forward.outside_port,
            )


def _own_outside(config: RouterConfig, nat: Nat) -> set[IPv4Address]:
    """IPv4 addresses of the outside interfaces."""
    found = (
        address_of(text).ip
        for name in nat.outside
        if (settings := config.interfaces.get(name)) is not None
        for text in settings.addresses
    )
    return {address for address in found if isinstance(address, IPv4Address)}
