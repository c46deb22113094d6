"""Changes of one small router, and the findings of the analyses."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from appliance.config.load import parse_document
from appliance.config.pointer import merge_patch
from appliance.features.bfd.clients import SESSIONS as BFD_SESSIONS
from appliance.features.bgp.sessions import SESSIONS
from appliance.features.interface.impact import LINKS
from appliance.features.ospf.adjacent import ADJACENCIES
from appliance.impact.analysis import foretell
from appliance.impact.change import Arrival, Change
from appliance.impact.facts import Fact, ToldFacts
from appliance.impact.result import Finding, Result
from appliance.state.bgp import BgpNeighborState, BgpState, PrefixCounts
from appliance.state.interfaces import Interfaces, InterfaceState
from appliance.state.ospf import OspfNeighborState, OspfState

PEER, INTERNAL = "192.0.2.1", "10.20.0.2"
ROUTER: dict[str, Any] = {
    "interfaces": {
        "lan0": {
            "type": "ethernet",
            "match": {"device": "a"},
            "addresses": ["10.10.0.1/24", "2001:db8:10::1/64"],
        },
        "lan0.7": {
            "type": "sub_interface",
            "parent": "lan0",
            "vlan_id": 7,
            "addresses": ["10.7.0.1/24"],
        },
        "wan0": {"type": "ethernet", "match": {"device": "b"}, "addresses": ["192.0.2.2/30"]},
        "core0": {"type": "ethernet", "match": {"device": "c"}, "addresses": ["10.20.0.1/30"]},
        "lo1": {"type": "loopback", "addresses": ["10.255.0.1/32"]},
    },
    "routing": {
        "static": {
            "198.51.100.0/24": {"next_hops": [{"address": "10.10.0.2"}]},
            "198.51.100.128/25": {"next_hops": [{"address": "10.7.0.2"}]},
        },
        "ospf": {"router_id": "10.255.0.1", "interfaces": {"core0": {"area": "0"}}},
        "policy": {
            "prefix_lists": {
                "some": {"rules": {"10": {"action": "permit", "prefix": "203.0.113.0/24"}}},
                "none": {"rules": {"10": {"action": "deny", "prefix": "0.0.0.0/0", "le": 32}}},
            },
            "route_maps": {"in": {"rules": {"10": {"action": "permit", "match": {"prefix_list": "some"}}}}},
        },
        "bgp": {
            "asn": 65000,
            "router_id": "10.255.0.1",
            "ipv4_unicast": {"networks": ["10.10.0.0/24"]},
            "peer_groups": {"upstream": {"ipv4_unicast": {"maximum_prefix": 5000}}},
            "neighbors": {
                PEER: {"remote_asn": 65001, "peer_group": "upstream", "ipv4_unicast": {"route_map_in": "in"}},
                INTERNAL: {"remote_asn": 65000, "update_source": "lo1", "ipv4_unicast": {}},
            },
        },
    },
    "acls": {"edge": {"rules": {"10": {"action": "permit"}, "20": {"action": "permit", "family": "ipv6"}}}},
}
FULL = OspfNeighborState(
    router_id="10.255.0.2", address="10.20.0.2", interface="core0", state="Full/DR", full=True
)


def session(state: str = "Established", asn: int = 65001, received: int | None = 1000) -> BgpNeighborState:
    """A session with this many IPv4 prefixes."""
    counts = PrefixCounts(prefixes_received=received)
    return BgpNeighborState(state=state, remote_asn=asn, families={"ipv4_unicast": counts})


UP: dict[Fact[Any], object] = {
    SESSIONS: BgpState(neighbors={PEER: session(), INTERNAL: session(asn=65000)}),
    ADJACENCIES: OspfState(neighbors=(FULL,)),
    BFD_SESSIONS: (),
    LINKS: Interfaces(
        interfaces=tuple(
            InterfaceState(name=name, type=one["type"], enabled=True, link="up", mtu=1500)
            for name, one in ROUTER["interfaces"].items()
        )
    ),
}
"""Everything is up."""


def result(
    patch: dict[str, Any],
    *,
    first: dict[str, Any] | None = None,
    facts: dict[Fact[Any], object] | None = None,
    caller: tuple[str, str] | None = None,
    direct: bool = True,
    taken_down: frozenset[str] = frozenset(),
) -> Result:
    """Of a merge patch of the router, after the patch ``first``.

    ``caller`` is an address and the interface by which it comes.
    """
    before = merge_patch(ROUTER, first or {})
    arrival = None if caller is None else Arrival(ip_address(caller[0]), caller[1], direct)
    change = Change(
        parse_document(before),
        parse_document(merge_patch(before, patch)),
        ToldFacts(UP if facts is None else {**UP, **facts}),
        arrival,
        caller is not None,
        remade=lambda: taken_down,
    )
    answer = foretell(change)
    assert not any("failed" in one for one in answer.not_looked_at), answer.not_looked_at
    return answer


def found(patch: dict[str, Any], **more: Any) -> list[Finding]:
    """The findings of a change; asserts that everything was analysed."""
    return list(result(patch, **more).findings)


def kinds(findings: list[Finding]) -> list[tuple[str, str, str]]:
    """What identifies findings."""
    return [(one.grade, one.kind, one.path) for one in findings]
