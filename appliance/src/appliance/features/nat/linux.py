"""NAT in the kernel. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.linux.nat_rules import Forward
from appliance.dataplane.linux.objects import LinuxObject
from appliance.dataplane.linux.objects.nat_address import NatAddress
from appliance.dataplane.linux.objects.nat_mappings import NatMappings
from appliance.dataplane.linux.objects.nat_timeouts import NatTimeouts
from appliance.dataplane.linux.objects.nat_translation import NatTranslation
from appliance.dataplane.wanted import Wanted
from appliance.features.nat.addresses import forward_address, overload, pool_addresses, received

_ANY = "0.0.0.0/0"


def objects(wanted: Wanted) -> Iterator[LinuxObject]:
    """The table with its mappings, the timeouts, and the addresses that no interface has."""
    config, nat = wanted.config, wanted.config.nat
    if nat is None:
        return
    yield NatTranslation(
        tuple(sorted(nat.inside)),
        tuple(sorted(nat.outside)),
        tuple(sorted((name, str(address)) for name, address in overload(config, nat).items())),
        tuple(map(str, pool_addresses(nat))),
        tuple((rule.source or _ANY, rule.destination or _ANY) for _, rule in nat.ordered()),
        nat.sessions_per_user,
    )
    static = tuple(sorted((one.outside_address, one.inside_address) for one in nat.static.values()))
    forwards = tuple(
        sorted(
            Forward(
                str(address),
                one.protocol,
                one.outside_port,
                one.inside_address,
                one.inside_port or one.outside_port,
            )
            for one in nat.port_forwards.values()
            if (address := forward_address(config, one)) is not None
        )
    )
    if static or forwards:
        yield NatMappings(static, forwards)
    timeouts = nat.timeouts
    yield NatTimeouts.of(
        timeouts.udp_s, timeouts.tcp_established_s, timeouts.tcp_transitory_s, timeouts.icmp_s
    )
    for prefix in received(config, nat):
        yield NatAddress(str(prefix))
