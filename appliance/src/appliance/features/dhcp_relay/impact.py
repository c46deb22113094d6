"""The effect of a change on DHCP clients, and the packets that a relay needs. Pure except for counts."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from appliance.config.counted import counted
from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.features.dhcp_relay.clients import relayed
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change, is_up
from appliance.impact.facts import Fact
from appliance.impact.needed import UDP, Needed, Packet
from appliance.impact.result import Finding
from appliance.state.dhcp_relays import DhcpRelays, on_vpp

_CLIENT, _SERVER = 68, 67
_NOBODY, _EVERYBODY = IPv4Address(0), IPv4Address(0xFFFFFFFF)
_SHOWN = 5
_CLIENTS = "there are DHCP clients"

COUNTS = Fact(
    "the counters of DHCP relays",
    lambda live: live.dataplane.look(
        vpp=lambda vpp: on_vpp(vpp, RouterConfig()), linux=lambda _kernel: DhcpRelays(relays=())
    ),
)


def lost(change: Change) -> Iterator[Finding]:
    """Clients whose relay is removed, uses another server, or sends from another address."""
    after = {relay.vrf: (name, relay) for name, relay in change.after.dhcp_relays.items()}
    for name, was in change.before.dhcp_relays.items():
        change.in_time()
        clients = [one for one in relayed(change.before, was.vrf) if is_up(change.after, one)]
        if not clients:
            continue
        kept, now = after.get(was.vrf, (name, None))
        path = join(["dhcp_relays", kept])
        if now is None:
            yield _finding(
                change,
                path,
                f"DHCP clients on {_listed(clients)} no longer reach a server: nothing is relayed to"
                f" {was.server}. They lose their addresses when their leases expire and cannot be renewed.",
                "there are DHCP clients, and no server on their link",
            )
        elif (was.server, was.server_vrf) != (now.server, now.server_vrf):
            yield _finding(
                change,
                f"{path}/server",
                f"DHCP clients on {_listed(clients)} get their addresses from {now.server}, and no longer"
                f" from {was.server}.",
                f"{now.server} does not know their leases, or has no addresses for their networks",
            )
        elif was.source_address != now.source_address:
            yield _finding(
                change,
                f"{path}/source_address",
                f"Packets to {now.server} are sent from {now.source_address}, and no longer from"
                f" {was.source_address}.",
                f"{now.server} does not answer to that address",
            )


def _finding(change: Change, path: str, text: str, depends_on: str) -> Finding:
    counts = change.facts.of(COUNTS)
    relayed = (
        ""
        if counts is None
        else f"{counted(counts.to_servers, 'packet')} relayed to servers since VPP started"
    )
    return Finding(
        grade="possible", kind="traffic", path=path, text=text, depends_on=depends_on, evidence=relayed
    )


def needed(change: Change, after: bool) -> Iterator[Needed]:
    """The broadcasts of clients, and packets to and from a server on a connected network.

    A server farther away may be reached through any interface. No access list filters packets to clients.
    """
    config = change.after if after else change.before
    connected = change.connected_after if after else change.connected_before
    for name, relay in config.dhcp_relays.items():
        path = join(["dhcp_relays", name])
        for interface in relayed(config, relay.vrf):
            change.in_time()
            asked = Packet(_NOBODY, _EVERYBODY, UDP, _CLIENT, _SERVER)
            what = f"the DHCP relay {name} for clients on {interface}"
            yield Needed(what, path, "traffic", interface, "in", ((asked,),), depends_on=_CLIENTS)
        server, source = IPv4Address(relay.server), IPv4Address(relay.source_address)
        network = connected.of(server)
        if network is None or config.interfaces[network.interface].vrf != relay.server_vrf:
            continue
        what = f"the DHCP relay {name}"
        asks = Packet(source, server, UDP, _CLIENT, _SERVER)
        answers = Packet(server, source, UDP, _SERVER, _SERVER)
        yield Needed(what, path, "traffic", network.interface, "out", ((asks,),), depends_on=_CLIENTS)
        yield Needed(what, path, "traffic", network.interface, "in", ((answers,),), depends_on=_CLIENTS)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


ANALYSES = (Analysis("DHCP relays", lost),)
