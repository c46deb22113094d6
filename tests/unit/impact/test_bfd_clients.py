"""What ends with a BFD session whose packets an access list drops: each is named."""

from __future__ import annotations

from typing import Any

from appliance.features.bfd.impact import SESSIONS
from appliance.features.bgp.sessions import SESSIONS as BGP_SESSIONS
from appliance.impact.result import Finding
from appliance.state.bgp import BgpState
from frr_config.protocols.bfd.state import BfdSession
from tests.unit.impact.changes import PEER, found, session

PROFILE: dict[str, Any] = {"bfd": {"profiles": {"f": {}}}}
WATCHED: dict[str, Any] = {"routing": {**PROFILE, "bgp": {"neighbors": {PEER: {"bfd_profile": "f"}}}}}
RULES = {
    "10": {"action": "permit", "protocol": "tcp", "source": f"{PEER}/32"},
    "20": {"action": "permit", "family": "ipv6"},
    "30": {"action": "permit", "protocol": "icmp"},
}


def _drops(interface: str, rules: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"acls": {"x": {"rules": rules or RULES}}, "interfaces": {interface: {"acl_in": ["x"]}}}


def _seen(peer: str, state: Any = "up", **more: Any) -> BfdSession:
    zero: dict[str, Any] = dict.fromkeys(
        (
            *("detect_multiplier", "transmit_interval_ms", "receive_interval_ms"),
            *("echo_transmit_interval_ms", "remote_detect_multiplier"),
            *("remote_transmit_interval_ms", "remote_receive_interval_ms"),
        ),
        0,
    )
    return BfdSession(peer=peer, multihop=False, state=state, passive=False, **zero, **more)


def _of(findings: list[Finding], words: str) -> list[Finding]:
    return [one for one in findings if words in one.text]


def test_the_bgp_session_falls_with_its_bfd_session() -> None:
    findings = found(_drops("wan0"), first=WATCHED, facts={SESSIONS: (_seen(PEER),)})
    (bgp,) = _of(findings, f"The BGP session with {PEER}, which ends with its BFD session, loses packets")
    assert (bgp.grade, bgp.kind) == ("certain", "session")
    assert bgp.evidence.startswith("the session is Established")
    assert len(_of(findings, "The BFD session with")) == 1


def test_a_profile_of_the_peer_group_counts() -> None:
    group = {"routing": {**PROFILE, "bgp": {"peer_groups": {"upstream": {"bfd_profile": "f"}}}}}
    findings = found(_drops("wan0"), first=group, facts={SESSIONS: (_seen(PEER),)})
    assert len(_of(findings, f"The BGP session with {PEER}, which ends")) == 1


def test_what_never_came_up_takes_nothing_with_it() -> None:
    for known in ((), (_seen(PEER, "down"),), (_seen(PEER, vrf="blue"),), (_seen("192.0.2.9"),)):
        assert not _of(found(_drops("wan0"), first=WATCHED, facts={SESSIONS: known}), "which ends")
    closed = {SESSIONS: (_seen(PEER),), BGP_SESSIONS: BgpState(neighbors={PEER: session("Idle")})}
    assert not _of(found(_drops("wan0"), first=WATCHED, facts=closed), "which ends")


def test_a_router_that_does_not_tell_makes_it_possible() -> None:
    findings = found(_drops("wan0"), first=WATCHED, facts={SESSIONS: None})
    (bgp,) = _of(findings, "which ends")
    assert bgp.grade == "possible" and "which the router does not report" in bgp.depends_on


def test_a_list_that_permits_bfd_ends_nothing() -> None:
    rules = {**RULES, "40": {"action": "permit", "protocol": "udp", "destination_ports": "3784"}}
    assert not _of(found(_drops("wan0", rules), first=WATCHED, facts={SESSIONS: (_seen(PEER),)}), "BFD")


def test_an_adjacency_and_a_static_route_fall_too() -> None:
    hop = {"address": "10.20.0.2", "bfd_profile": "f"}
    routing = {
        **PROFILE,
        "ospf": {"interfaces": {"core0": {"bfd_profile": "f"}}},
        "static": {"198.51.101.0/24": {"next_hops": [hop]}},
    }
    rules = {"10": {"action": "permit", "protocol": "ospf"}, "20": {"action": "permit", "protocol": "tcp"}}
    up = {SESSIONS: (_seen("10.20.0.2", interface="core0"),)}
    findings = found(_drops("core0", rules), first={"routing": routing}, facts=up)
    (ospf,) = _of(findings, "The OSPF adjacency with 10.255.0.2, which ends with its BFD session, loses")
    assert (ospf.grade, ospf.kind, ospf.evidence) == ("certain", "session", "10.255.0.2 is Full/DR")
    (route,) = _of(findings, "The static route to 198.51.101.0/24 by 10.20.0.2, which BFD watches, loses")
    assert (route.grade, route.kind) == ("certain", "routes")
