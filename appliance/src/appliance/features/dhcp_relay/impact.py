"""What DHCP clients lose or get from elsewhere, and the packets a relay lives by. Pure but for counts."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

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
    "what DHCP relays have relayed",
    lambda live: live.dataplane.look(
        vpp=lambda vpp: on_vpp(vpp, RouterConfig()), linux=lambda _kernel: DhcpRelays(relays=())
    ),
)


def lost(change: Change) -> Iterator[Finding]:
    """Clients whose relay goes, or asks another server, or asks from elsewhere."""
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
                f"DHCP clients on {_listed(clients)} reach no server any more: {was.server} is not asked for"
                " them. They lose their addresses when their leases end, if they cannot renew them.",
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
                f"{now.server} is asked from {now.source_address}, and no longer from {was.source_address}.",
                f"{now.server} does not answer there",
            )


def _finding(change: Change, path: str, text: str, depends_on: str) -> Finding:
    counts = change.facts.of(COUNTS)
    relayed = "" if counts is None else f"{counts.to_servers:,} packets relayed to servers since VPP started"
    return Finding(
        grade="possible", kind="traffic", path=path, text=text, depends_on=depends_on, evidence=relayed
    )


def needed(change: Change, after: bool) -> Iterator[Needed]:
    """What clients broadcast, and both ways of a server on the link. A farther one may come by any interface.

    What is relayed to clients meets no access list.
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
