"""DHCP relays: compiled for VPP, and their state as VPP reports it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, ip_interface
from typing import Any

from appliance.compile import CompileContext, compile_document
from appliance.config.load import parse_document
from appliance.dataplane.nic import Nic
from appliance.features.dhcp_relay.clients import relayed
from appliance.features.vrf.model import Vrf, table_of
from appliance.state.dhcp_relays import DHCP_RELAYS, DhcpRelays, RelayedNetwork, on_vpp
from vpp_config import Address, Loopback, Session, VppState, VrfTable, plan
from vpp_config.fake import FakeVpp
from vpp_config.objects.dhcp_relay import DhcpRelay, DhcpServer

Json = dict[str, Any]
NICS = tuple(Nic(name, f"02:4d:52:00:03:0{number}") for number, name in enumerate("xyz"))
LINK = {"type": "ethernet", "match": {"device": "x"}}
DOCUMENT: Json = {
    "vrfs": {"blue": {"table": 7}, "red": {}},
    "interfaces": {
        "lan0": {**LINK, "addresses": ["2001:db8::1/64", "10.1.0.1/24", "10.2.0.1/24"], "vrf": "blue"},
        "lan1": {**LINK, "match": {"device": "y"}, "addresses": ["2001:db8:1::1/64"], "vrf": "blue"},
        "lo1": {"type": "loopback", "addresses": ["10.255.0.1/32"], "vrf": "blue"},
        "wan0": {**LINK, "match": {"device": "z"}, "addresses": ["192.0.2.2/24"]},
    },
    "dhcp_relays": {
        "office": {"vrf": "blue", "server": "192.0.2.67", "source_address": "192.0.2.2"},
        "lab": {"server": "10.1.0.67", "server_vrf": "blue", "source_address": "10.255.0.1"},
        "far": {"vrf": "red", "server": "192.0.2.67", "source_address": "192.0.2.2"},
    },
}


def test_each_is_compiled_with_the_tables_of_its_vrfs() -> None:
    desired = compile_document(parse_document(DOCUMENT), "vpp", CompileContext(NICS))["vpp"]
    found = {item.table_id: item for item in desired.objects.values() if isinstance(item, DhcpRelay)}
    red = table_of("red", Vrf())
    assert found.keys() == {7, 0, red}
    assert found[7] == DhcpRelay(7, IPv4Address("192.0.2.2"), (DhcpServer(IPv4Address("192.0.2.67")),))
    assert found[0].servers == (DhcpServer(IPv4Address("10.1.0.67"), 7),)
    assert found[7].requires() == found[0].requires() == ("vrf_table/7/ipv4",)


def test_clients_are_on_links_with_an_ipv4_address() -> None:
    config = parse_document(DOCUMENT)
    assert (relayed(config, "blue"), relayed(config, None)) == (["lan0"], ["wan0"])
    nat = {"inside": ["lan0"], "outside": ["wan0"], "masquerade": ["wan0"]}
    assert relayed(parse_document({**DOCUMENT, "nat": nat}), None) == []


class _Looking:
    """A fake VPP with interfaces of these names, and counters."""

    def __init__(self, counters: Mapping[str, int]) -> None:
        self.client = FakeVpp()
        self.session = Session(self.client)
        self._counters = counters

    def names(self) -> Mapping[int, str]:
        return self.session.interface_names()

    def counted(self, prefix: str) -> dict[str, int]:
        return {name: count for name, count in self._counters.items() if name.startswith(prefix)}

    def read_stats(self, reader: Callable[[Any], Any]) -> Any:
        return reader(self)


COUNTERS = {
    "/err/dhcp-proxy-to-server/DHCP packets relayed to the server": 1200,
    "/err/dhcp-proxy-to-server/DHCP packets relayed to clients": 1100,
    "/err/dhcp-proxy-to-server/no dhcp server configured": 2,
    "/err/dhcp-proxy-to-client/no dhcp server configured": 1,
    "/err/dhcp-proxy-to-client/DHCP option 82 missing": 5,
    "/err/ip4-input/ip4 ttl <= 1": 9,
}


def _told(document: Json, *relays: DhcpRelay) -> DhcpRelays:
    looking = _Looking(COUNTERS)
    objects = [
        VrfTable(7, "blue", "ipv4"),
        VrfTable(9, "gone", "ipv4"),
        Loopback("lan0", 0),
        Address("lan0", ip_interface("10.2.0.1/24")),
        Address("lan0", ip_interface("10.1.0.1/24")),
        *relays,
    ]
    for step in plan(VppState.of(objects), looking.session.observe()):
        looking.session.apply(step)
    looking.client.calls.clear()
    told = on_vpp(looking, parse_document(document))
    assert looking.client.calls == []
    return told


def test_the_state_tells_what_vpp_has_by_names_of_the_document() -> None:
    server = DhcpServer(IPv4Address("192.0.2.67"))
    ours = DhcpRelay(7, IPv4Address("192.0.2.2"), (server,))
    others = DhcpRelay(9, IPv4Address("192.0.2.2"), (server, DhcpServer(IPv4Address("192.0.2.68"), 7)))
    told = _told(DOCUMENT, ours, others)
    assert [(one.name, one.vrf, one.table, one.server, one.server_vrf) for one in told.relays] == [
        ("office", "blue", 7, "192.0.2.67", None),
        ("", None, 9, "192.0.2.67", None),
        ("", None, 9, "192.0.2.68", "blue"),
    ]
    (network,) = told.relays[0].networks
    assert network.interface == "lan0"
    assert network.address in ("10.1.0.1/24", "10.2.0.1/24")
    assert told.relays[1].networks == ()
    assert (told.to_servers, told.to_clients) == (1200, 1100)
    assert told.failures == {"no dhcp server configured": 3, "DHCP option 82 missing": 5}


def test_the_counts_are_said_in_a_sentence() -> None:
    told = _told(DOCUMENT)
    assert told.words == (
        "Relayed since VPP started: 1,200 packets from clients, 1,100 from servers."
        " 5: DHCP option 82 missing. 3: no dhcp server configured."
    )
    assert DhcpRelays(relays=()).words == ""


def test_a_terminal_shows_the_networks_of_a_relay() -> None:
    told = _told(DOCUMENT, DhcpRelay(7, IPv4Address("192.0.2.2"), (DhcpServer(IPv4Address("192.0.2.67")),)))
    assert DHCP_RELAYS.table is not None
    (row,) = DHCP_RELAYS.table.rows(told)
    assert all(hasattr(row, column) for column in DHCP_RELAYS.table.columns)
    assert isinstance(told.relays[0].networks[0], RelayedNetwork)
