"""Adjacencies that end with their BFD session; packets that BFD sessions need. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import ip_network
from typing import Literal

from appliance.config.pointer import join
from appliance.features.bfd.clients import clients, over_ospf
from appliance.features.bfd.control_plane import CONTROL, ON_THE_LINK, peers
from appliance.features.ospf.impact import adjacent, is_kept
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change, Network
from appliance.impact.needed import EPHEMERAL_PORT, UDP, Needed, Now, Packet, is_new
from appliance.impact.result import Finding, Kind
from frr_config.protocols.bfd.augments import profile_of
from frr_config.types import IpAddress


def adjacencies(change: Change) -> Iterator[Finding]:
    """A finding for each OSPF interface that is no longer monitored: FRR clears its adjacencies."""
    was, now = change.before.routing.ospf, change.after.routing.ospf
    if was is None or now is None:
        return
    for name, before in was.interfaces.items():
        change.in_time()
        if profile_of(before) is None or profile_of(now.interfaces.get(name)) is not None:
            continue
        there = adjacent(change, name) if is_kept(change, name) else None
        if there is None:
            continue
        yield Finding(
            grade="possible",
            kind="session",
            path=join(["routing", "ospf", "interfaces", name, "bfd_profile"]),
            text=f"For a moment, OSPF on {name} loses the adjacency with {there.who} and its routes: "
            "BFD no longer monitors the adjacency.",
            depends_on="FRR treats the end of the BFD session as the end of the adjacency",
            evidence=there.evidence,
        )


def needed(change: Change, after: bool) -> Iterator[Needed]:
    """Sessions with peers on connected networks, and what ends with them; packets of other peers may use any
    interface."""
    config = change.after if after else change.before
    connected = change.connected_after if after else change.connected_before
    for peer in peers(config):
        change.in_time()
        neighbor = ip_network(peer.prefix).network_address
        network = connected.of(neighbor)
        if network is None or peer.form != ON_THE_LINK:
            continue
        yield from _both_ways("the BFD session with {}", "/routing/bfd", "session", network, neighbor)
        for client in clients(change, config, str(neighbor)):
            yield from _both_ways(client.what, client.path, client.kind, network, neighbor, client.now)
    for client, neighbor in over_ospf(change, config):
        change.in_time()
        if (network := connected.of(neighbor)) is not None:
            yield from _both_ways(client.what, client.path, client.kind, network, neighbor, client.now)


def _both_ways(
    what: str,
    path: str,
    kind: Kind,
    network: Network,
    neighbor: IpAddress,
    now: Callable[[], Now] = is_new,
) -> Iterator[Needed]:
    """``{}`` in ``what`` stands for the neighbor."""
    for incoming in (True, False):
        ends = (neighbor, network.own) if incoming else (network.own, neighbor)
        packet = Packet(*ends, UDP, EPHEMERAL_PORT, CONTROL)
        direction: Literal["in", "out"] = "in" if incoming else "out"
        yield Needed(what.format(neighbor), path, kind, network.interface, direction, ((packet,),), now)


ANALYSES = (Analysis("OSPF adjacencies that BFD monitors", adjacencies, each_vrf=True),)
