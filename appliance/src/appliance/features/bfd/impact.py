"""Packets that BFD sessions need. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from appliance.features.bfd.control_plane import CONTROL, ON_THE_LINK, peers
from appliance.impact.change import Change
from appliance.impact.needed import EPHEMERAL_PORT, UDP, Needed, Packet


def needed(change: Change, after: bool) -> Iterator[Needed]:
    """Sessions with addresses on connected networks; those farther away may come by any interface."""
    connected = change.connected_after if after else change.connected_before
    for peer in peers(change.after if after else change.before):
        change.in_time()
        neighbor = ip_network(peer.prefix).network_address
        network = connected.of(neighbor)
        if network is None or peer.form != ON_THE_LINK:
            continue
        for incoming in (True, False):
            ends = (neighbor, network.own) if incoming else (network.own, neighbor)
            yield Needed(
                f"the BFD session with {neighbor}",
                "/routing/bfd",
                "session",
                network.interface,
                "in" if incoming else "out",
                ((Packet(*ends, UDP, EPHEMERAL_PORT, CONTROL),),),
            )
