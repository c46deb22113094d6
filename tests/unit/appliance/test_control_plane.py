"""What the router lets in for itself follows from the document, and the step says what it opens."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.services import Opening, OpenLink, Peer
from appliance.config.validate import check
from appliance.dataplane.control_plane.answer import answer_of
from appliance.dataplane.control_plane.compile import compile_control_plane
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.control_plane.rules import whole_table
from appliance.dataplane.control_plane.rules_read import read
from appliance.dataplane.control_plane.step import plan_control_plane
from appliance.errors import ValidationFailed
from appliance.state.control_plane import MOST_SOURCES
from tests.property.test_control_plane import Table

LINK = {"type": "ethernet", "match": {"device": "nic0"}, "addresses": ["192.0.2.1/24", "2001:db8::1/64"]}


def _compiled(**parts: Any) -> ControlPlane:
    config = parse_document({"interfaces": {"wan0": LINK}, **parts})
    assert check(config, Capabilities("linux")) == []
    return compile_control_plane(config)


def _bgp(**neighbors: Any) -> dict[str, Any]:
    found = {
        address: {"ipv6_unicast" if ":" in address else "ipv4_unicast": {}, **settings}
        for address, settings in neighbors.items()
    }
    groups = {"near": {"remote_asn": 65001, "ttl_security_hops": 1}}
    return {"routing": {"bgp": {"asn": 65000, "peer_groups": groups, "neighbors": found}}}


def _of(found: ControlPlane, reason: str) -> tuple[tuple[str, str], ...]:
    """Who may use a service, and in which form."""
    return tuple((peer.prefix, peer.form) for peer in found.peers if peer.reason == reason)


def test_nothing_is_open_that_the_document_does_not_ask_for() -> None:
    assert _compiled() == ControlPlane(interfaces=("wan0",))


def test_a_loopback_is_no_way_in() -> None:
    loopback = {"type": "loopback", "addresses": ["198.51.100.1/32"]}
    assert _compiled(interfaces={"wan0": LINK, "lo0": loopback}).interfaces == ("wan0",)
    with pytest.raises(ValidationFailed):
        parse_document({"interfaces": {"lo0": {**loopback, "management_services": ["ssh"]}}})


def test_bgp_is_open_to_neighbors_that_are_not_shut_down() -> None:
    wanted = _bgp(
        **{
            "192.0.2.9": {"remote_asn": 65001},
            "192.0.2.8": {"remote_asn": 65001, "enabled": False},
            "2001:db8::9": {"remote_asn": 65001},
        }
    )
    assert _of(_compiled(**wanted), "bgp") == (("192.0.2.9/32", "0"), ("2001:db8::9/128", "0"))


def test_ttl_security_is_the_neighbors_own_or_its_groups() -> None:
    wanted = _bgp(
        **{
            "192.0.2.2": {"peer_group": "near"},
            "192.0.2.3": {"peer_group": "near", "ttl_security_hops": 3},
            "192.0.2.4": {"remote_asn": 65001, "ttl_security_hops": 254},
        }
    )
    assert [form for _, form in _of(_compiled(**wanted), "bgp")] == ["255", "253", "2"]


def test_ospf_is_open_where_it_is_not_passive() -> None:
    other = {**LINK, "match": {"device": "nic1"}, "addresses": ["198.51.100.1/24"]}
    ospf = {"interfaces": {"wan0": {"area": "0"}, "lan0": {"area": "0", "passive": True}}}
    found = _compiled(interfaces={"wan0": LINK, "lan0": other}, routing={"ospf": ospf})
    assert (found.interfaces, found.links) == (("lan0", "wan0"), (OpenLink("ospf", "wan0"),))


def test_bfd_is_open_to_whom_it_watches_and_as_far_away_as_they_are() -> None:
    wanted = _bgp(
        **{
            "192.0.2.2": {"remote_asn": 65001, "bfd_profile": "fast"},
            "192.0.2.3": {"peer_group": "near"},
            "192.0.2.4": {"remote_asn": 65001},
            "192.0.2.5": {"remote_asn": 65001, "bfd_profile": "fast", "enabled": False},
            "192.0.2.6": {"remote_asn": "internal", "bfd_profile": "fast"},
            "203.0.113.9": {"remote_asn": 65001, "bfd_profile": "fast", "ebgp_multihop": 3},
        }
    )
    routing = wanted["routing"]
    routing["bgp"]["peer_groups"]["near"]["bfd_profile"] = "fast"
    routing["bfd"] = {"profiles": {"fast": {}}}
    routing["ospf"] = {"interfaces": {"wan0": {"area": "0", "bfd_profile": "fast"}}}
    hops = [
        {"address": "192.0.2.7", "bfd_profile": "fast"},
        {"address": "203.0.113.8", "bfd_profile": "fast", "bfd_multihop": True},
    ]
    routing["static"] = {"198.51.100.0/24": {"next_hops": hops}}
    found = _compiled(**wanted)
    assert _of(found, "bfd") == (
        ("192.0.2.2/32", "link"),
        ("192.0.2.3/32", "link"),
        ("192.0.2.6/32", "far"),
        ("192.0.2.6/32", "link"),
        ("192.0.2.7/32", "link"),
        ("203.0.113.8/32", "far"),
        ("203.0.113.9/32", "far"),
    )
    assert found.links_of("bfd") == ("wan0",)
    routing["ospf"]["interfaces"]["wan0"]["passive"] = True
    assert _compiled(**wanted).links_of("bfd") == ()


def test_management_is_open_to_its_sources_and_a_prefix_of_everybody_is_any() -> None:
    def opened(*sources: str) -> tuple[Opening, ...]:
        settings = {"management_services": ["ssh"], "management_sources": list(sources)}
        return _compiled(interfaces={"wan0": {**LINK, **settings}}).management

    assert opened() == (Opening("wan0", "ssh"),)
    assert opened("203.0.113.0/24") == (Opening("wan0", "ssh", "203.0.113.0/24"),)
    assert opened("0.0.0.0/0", "203.0.113.0/24") == (
        Opening("wan0", "ssh", "0.0.0.0/0"),
        Opening("wan0", "ssh", "203.0.113.0/24"),
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"management_sources": ["203.0.113.0/24"]},
        {"management_services": ["ssh", "ssh"]},
        {"management_services": ["telnet"]},
        {"management_services": ["ssh"], "management_sources": ["203.0.113.1/24"]},
    ],
)
def test_an_opening_that_makes_no_sense_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed) as caught:
        parse_document({"interfaces": {"wan0": {**LINK, **settings}}})
    assert all(problem.pointer.startswith("/interfaces/wan0") for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("settings", "port", "answered"),
    [
        ({}, 179, "tcp port 179 of 192.0.2.1: BGP"),
        ({"enabled": False}, 179, None),
        ({"bfd_profile": "fast"}, 4784, "udp port 4784 of 192.0.2.1: BFD"),
        ({}, 4784, None),
    ],
)
def test_a_port_can_be_forwarded_where_the_router_lets_nobody_in_to_it(
    settings: dict[str, Any], port: int, answered: str | None
) -> None:
    document = _bgp(**{"192.0.2.9": {"remote_asn": 65001, **settings}})
    document["routing"]["bfd"] = {"profiles": {"fast": {}}}
    forward = {
        "protocol": "tcp" if port == 179 else "udp",
        "outside_interface": "wan0",
        "outside_port": port,
        "inside_address": "10.0.0.2",
    }
    inside = {"type": "ethernet", "match": {"device": "nic1"}, "addresses": ["10.0.0.1/24"]}
    nat = {"inside": ["lan0"], "outside": ["wan0"], "masquerade": ["wan0"], "port_forwards": {"one": forward}}
    config = parse_document({"interfaces": {"lan0": inside, "wan0": LINK}, "nat": nat, **document})
    assert [(one.pointer, one.message) for one in check(config, Capabilities("linux"))] == (
        []
        if answered is None
        else [("/nat/port_forwards/one/outside_port", f"the router itself answers {answered}")]
    )


def test_the_state_tells_who_is_let_in_of_many_as_many_as_can_be_read() -> None:
    many = tuple(
        sorted(Peer("bgp", f"10.{high}.{low}.1/32", "0") for high in range(3) for low in range(MOST_SOURCES))
    )
    wanted = ControlPlane(
        ("blue", "lan0", "wan0"),
        (*many, Peer("tunnel", "2001:db8::/32", "47")),
        (OpenLink("bfd", "wan0"), OpenLink("ospf", "wan0")),
        (Opening("lan0", "https", "192.0.2.0/24"), Opening("lan0", "ssh", "192.0.2.0/24")),
    )
    table = Table()
    table.run(whole_table(wanted))
    state = answer_of(read(table.listing()))
    services = {service.reason: service for service in state.services}
    assert {reason: (one.title, one.by_source, one.by_interface) for reason, one in services.items()} == {
        "bgp": ("BGP", True, False),
        "ospf": ("OSPF", False, True),
        "tunnel": ("Tunnel", True, False),
        "bfd": ("BFD", True, True),
    }
    assert services["bgp"].sources[0] == "10.0.0.1"
    assert (len(services["bgp"].sources), services["bgp"].more_sources) == (MOST_SOURCES, 2 * MOST_SOURCES)
    assert services["tunnel"].sources == ("2001:db8::/32",)
    _, lan, wan = state.interfaces
    assert (lan.open_services, wan.open_services) == ((), ("bfd", "ospf"))
    assert (lan.management_services, lan.management_sources) == (("https", "ssh"), ("192.0.2.0/24",))
    assert set(wan.accepted) - set(lan.accepted) == {"ospf"}
    assert answer_of(None).services == ()


def test_the_step_says_what_it_opens_and_closes_and_stands_between_withdraw_and_announce() -> None:
    before = ControlPlane(
        ("wan0",),
        (
            Peer("bgp", "192.0.2.9/32", "0"),
            Peer("bfd", "192.0.2.9/32", "link"),
            Peer("bfd", "203.0.113.9/32", "far"),
        ),
        (OpenLink("ospf", "wan0"), OpenLink("bfd", "wan0")),
    )
    after = ControlPlane(
        ("wan0",), (Peer("bgp", "192.0.2.8/32", "255"),), management=(Opening("wan0", "ssh"),)
    )
    (step,) = plan_control_plane(after, before)
    assert (step.phase, step.impact, step.operation) == ("create", "none", "update")
    assert step.summary == (
        "change protection of the router itself: open BGP from 192.0.2.8 with TTL 255 or more; "
        "open ssh on wan0; close BGP from 192.0.2.9; close OSPF on wan0; "
        "close BFD from 192.0.2.9; close BFD from 203.0.113.9 over several hops; close BFD on wan0"
    )
    assert plan_control_plane(after, after) == []
    (first,) = plan_control_plane(after, None)
    assert first.operation == "create" and first.undo_summary == "remove protection of the router itself"
