"""The effect of a change on BGP sessions and on the routes they exchange. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from ipaddress import ip_address

from appliance.config.pointer import join
from appliance.features.bgp.announced import announced
from appliance.features.bgp.effective import peers
from appliance.features.bgp.routes_exchanged import filters
from appliance.features.bgp.sessions import alive, evidence, sessions
from appliance.features.bgp.switches import switched
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change
from appliance.impact.needed import ACK, EPHEMERAL_PORT, SYN, TCP, Needed, Now, Packet, is_new
from frr_config.types import IpAddress

_PORT = 179
ANALYSES = (
    Analysis("BGP sessions", sessions, each_vrf=True),
    Analysis("policy of BGP neighbors", filters, each_vrf=True),
    Analysis("settings of routes with BGP neighbors", switched, each_vrf=True),
    Analysis("prefixes BGP announces", announced, each_vrf=True),
)


def needed(change: Change, after: bool) -> Iterator[Needed]:
    """Sessions with neighbors on connected networks; packets of other neighbors may use any interface."""
    connected = change.connected_after if after else change.connected_before
    known = peers(change.before)
    for address in peers(change.after if after else change.before):
        change.in_time()
        neighbor = ip_address(address)
        network = connected.of(neighbor)
        if network is None:
            continue
        for direction, ends in (("in", (neighbor, network.own)), ("out", (network.own, neighbor))):
            yield Needed(
                f"the BGP session with {address}",
                join(["routing", "bgp", "neighbors", address]),
                "session",
                network.interface,
                "in" if direction == "in" else "out",
                _ways(*ends),
                partial(_now, change, address) if address in known else is_new,
            )


def _now(change: Change, address: str) -> Now:
    return Now(alive(change, address), evidence(change, address))


def _ways(source: IpAddress, destination: IpAddress) -> tuple[tuple[Packet, ...], ...]:
    """Two ways, because either end may have opened the connection."""
    return (
        (
            Packet(source, destination, TCP, EPHEMERAL_PORT, _PORT, SYN),
            Packet(source, destination, TCP, EPHEMERAL_PORT, _PORT, ACK),
        ),
        (
            Packet(source, destination, TCP, _PORT, EPHEMERAL_PORT, SYN | ACK),
            Packet(source, destination, TCP, _PORT, EPHEMERAL_PORT, ACK),
        ),
    )
