"""Links, networks, and the caller's own path to the router."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.features.interface.impact import LINKS
from appliance.state.interfaces import Interfaces, InterfaceState
from tests.unit.impact.changes import ROUTER, found, kinds, result

ME = ("10.10.0.7", "lan0")
LAN = ROUTER["interfaces"]["lan0"]
OPEN = {"interfaces": {"lan0": {"management_services": ["ssh", "https"]}}}


def _lan(**settings: Any) -> dict[str, Any]:
    return {"interfaces": {"lan0": settings}}


def test_a_lower_mtu_is_possible_and_a_higher_one_is_nothing() -> None:
    (finding,) = found(_lan(mtu=1300))
    assert (finding.grade, finding.kind, finding.path) == ("possible", "traffic", "/interfaces/lan0/mtu")
    assert finding.depends_on == "packets of 1,301 to 1,500 bytes pass lan0"
    assert found(_lan(mtu=9000)) == []


def test_a_disabled_interface_takes_its_networks_and_those_of_its_vlans_along() -> None:
    lost = [one for one in found(_lan(enabled=False)) if one.kind == "traffic"]
    assert [one.path for one in lost] == ["/interfaces/lan0/enabled", "/interfaces/lan0.7/enabled"]
    assert "10.10.0.0/24, 2001:db8:10::/64" in lost[0].text
    assert lost[1].text.endswith("lan0, which it is on, is disabled.")


def test_a_link_that_is_down_already_has_nothing_to_lose_now() -> None:
    down = InterfaceState(name="core0", type="ethernet", enabled=True, link="down", mtu=1500)
    facts = {LINKS: Interfaces(interfaces=(down,))}
    patch = {"interfaces": {"core0": {"enabled": False}}, "routing": {"ospf": None}}
    lost = [one for one in found(patch, facts=facts) if one.kind == "traffic"]
    assert [(one.grade, one.evidence) for one in lost] == [("possible", "the link of core0 is down")]


def test_an_address_that_goes_takes_its_network() -> None:
    (finding, *_) = found(_lan(addresses=["10.10.0.1/24"]))
    assert (finding.grade, finding.path) == ("certain", "/interfaces/lan0/addresses")
    assert "2001:db8:10::/64" in finding.text and "10.10.0.0/24" not in finding.text


def test_another_address_in_the_same_network_is_another_gateway() -> None:
    (finding,) = found(_lan(addresses=["10.10.0.254/24", "2001:db8:10::1/64"]))
    assert kinds([finding]) == [("possible", "traffic", "/interfaces/lan0/addresses")]
    assert finding.text.startswith("lan0 no longer has 10.10.0.1: hosts that send their packets through it")
    assert finding.depends_on == "hosts there use it as their gateway, or connect to it"
    down = InterfaceState(name="lan0", type="ethernet", enabled=True, link="down", mtu=1500)
    facts = {LINKS: Interfaces(interfaces=(down,))}
    (alone,) = found(_lan(addresses=["10.10.0.254/24", "2001:db8:10::1/64"]), facts=facts)
    assert alone.depends_on.startswith("the link of lan0 comes up again; ")


def test_a_second_address_that_goes_is_missed_like_the_first_and_a_new_order_is_nothing() -> None:
    both = ["10.10.0.1/24", "10.10.0.2/24", "2001:db8:10::1/64"]
    (finding,) = found(_lan(addresses=both[::2]), first=_lan(addresses=both))
    assert "no longer has 10.10.0.2:" in finding.text
    assert found(_lan(addresses=both[::-1]), first=_lan(addresses=both)) == []


def test_a_smaller_network_loses_its_other_part_and_a_larger_one_no_host() -> None:
    smaller, announced = found(_lan(addresses=["10.10.0.1/25", "2001:db8:10::1/64"]))
    assert (smaller.grade, smaller.depends_on) == ("certain", ""), "no other interface has the network"
    assert smaller.text.startswith("Hosts on 10.10.0.0/24 outside of 10.10.0.0/25 are no longer reached on")
    larger = found(_lan(addresses=["10.10.0.1/16", "2001:db8:10::1/64"]))
    assert larger == [announced], "BGP announces the prefix while it is in the table"
    assert announced.text == "BGP no longer announces 10.10.0.0/24 to 2 neighbors."


def test_another_vlan_or_nic_is_another_link() -> None:
    (vlan,) = found({"interfaces": {"lan0.7": {"vlan_id": 8}}})
    assert (vlan.grade, vlan.path) == ("possible", "/interfaces/lan0.7/vlan_id")
    (nic,) = found(_lan(match={"device": "z"}))
    assert "its NIC changes" in nic.text


@pytest.mark.parametrize(
    ("patch", "path", "words"),
    [
        (_lan(management_services=["ssh"]), "management_services", "You lose https:"),
        (_lan(management_services=None), "management_services", "You lose https and ssh:"),
        (_lan(management_sources=["10.9.0.0/24"]), "management_sources", "none of its management sources"),
    ],
)
def test_a_caller_who_is_shut_out(patch: dict[str, Any], path: str, words: str) -> None:
    findings = found(patch, first=OPEN, caller=ME)
    assert kinds(findings) == [("certain", "management", f"/interfaces/lan0/{path}")]
    assert words in findings[0].text
    assert found(patch, first=OPEN, caller=("192.0.2.1", "wan0")) == []


def test_a_caller_who_stays_in_is_not_told_anything() -> None:
    assert found(_lan(management_sources=["10.10.0.0/28"]), first=OPEN, caller=ME) == []
    lost = found(_lan(enabled=False), first=OPEN, caller=ME)
    assert lost[0].kind == "management", "it comes before everything else"
    assert lost[0].text.startswith("You lose access to the router: lan0 is disabled")


@pytest.mark.parametrize(
    ("patch", "path", "grade", "words"),
    [
        ({"addresses": ["10.66.0.1/24"]}, "addresses", "certain", "no longer has 10.10.0.1"),
        ({"addresses": ["2001:db8:10::1/64"]}, "addresses", "certain", "no longer has 10.10.0.1"),
        ({"addresses": ["10.10.0.254/24"]}, "addresses", "possible", "no longer has 10.10.0.1"),
        ({"vrf": "blue"}, "vrf", "certain", "moves to VRF blue, and the router can only be managed in"),
    ],
)
def test_a_caller_whose_end_at_the_router_goes(
    patch: dict[str, Any], path: str, grade: str, words: str
) -> None:
    change = {**_lan(**patch), "vrfs": {"blue": {}}}
    lost = found(change, first=OPEN, caller=ME)
    (told,) = [one for one in lost if one.kind == "management"]
    assert (told.grade, told.path) == (grade, f"/interfaces/lan0/{path}")
    assert told.text.startswith("You lose access to the router: lan0") and words in told.text


def test_a_way_that_was_shut_already_is_not_lost_again() -> None:
    shut = {"interfaces": {"lan0": {**OPEN["interfaces"]["lan0"], "enabled": False}}}
    gone = {"interfaces": {"lan0": None, "lan0.7": None}, "routing": {"static": None}}
    assert not [one for one in found(gone, first=shut, caller=ME) if one.kind == "management"]


def test_a_caller_whose_network_goes_to_another_interface_may_stay() -> None:
    renamed = {"interfaces": {"lan0": None, "lan0.7": None, "lan1": LAN}, "routing": {"static": None}}
    (told,) = [one for one in found(renamed, first=OPEN, caller=ME) if one.kind == "management"]
    assert (told.grade, told.path) == ("possible", "/interfaces/lan0")
    assert told.depends_on.startswith("10.10.0.7 is not behind lan1, which has 10.10.0.0/24")


def test_a_list_that_refuses_the_caller() -> None:
    rules = {"5": {"action": "deny", "protocol": "tcp", "source": "10.10.0.0/28", "destination_ports": "443"}}
    patch = {"acls": {"edge": {"rules": rules}}, "interfaces": {"lan0": {"acl_in": ["edge"]}}}
    (finding, *_) = found(patch, first=OPEN, caller=ME)
    assert (finding.grade, finding.kind) == ("certain", "management")
    assert finding.text.startswith("Your https from 10.10.0.7 loses packets it needs")
    (behind, *_) = found(patch, first=OPEN, caller=ME, direct=False)
    assert behind.grade == "possible", "the address he speaks to behind the router is not known"


def test_a_caller_from_nowhere_is_told_that_his_way_was_not_looked_at() -> None:
    from appliance.config.load import parse_document
    from appliance.config.pointer import merge_patch
    from appliance.impact.analysis import foretell
    from appliance.impact.change import Change
    from tests.unit.impact.changes import ROUTER

    after = parse_document(merge_patch(ROUTER, _lan(description="x")))
    answer = foretell(Change(parse_document(ROUTER), after, is_remote=True))
    assert any(
        one.startswith("your own connection: as far as the router knows, you do not reach")
        for one in answer.not_looked_at
    )
    assert "your own connection" not in answer.looked_at
    assert "your own connection" in result(_lan(description="x")).looked_at


BOND: dict[str, Any] = {
    "interfaces": {
        "nic8": {"type": "ethernet", "match": {"device": "eth8"}},
        "nic9": {"type": "ethernet", "match": {"device": "eth9"}},
        "bond0": {"type": "bond", "members": ["nic8", "nic9"], "addresses": ["10.88.0.1/24"]},
        "bond0.7": {
            "type": "sub_interface",
            "parent": "bond0",
            "vlan_id": 7,
            "addresses": ["10.89.0.1/24"],
        },
    }
}


def test_a_bond_lasts_as_long_as_one_of_its_members() -> None:
    def texts(patch: dict[str, Any]) -> list[str]:
        return [one.text for one in found({"interfaces": patch}, first=BOND)]

    assert texts({"nic8": {"enabled": False}}) == ["No packet passes nic8 any more: nic8 is disabled."]
    assert texts({"bond0": {"members": ["nic8"]}}) == []
    assert texts({"bond0": {"hash_policy": "layer2"}}) == []
    both = texts({"nic8": {"enabled": False}, "nic9": {"enabled": False}})
    assert any("10.88.0.0/24 are no longer reached on bond0: all its members" in text for text in both)
    assert any("10.89.0.0/24 are no longer reached on bond0.7" in text for text in both)


def _linked(**links: str) -> dict[Any, object]:
    states = tuple(
        InterfaceState(name=name, type="ethernet", enabled=True, link=link, mtu=1500)
        for name, link in links.items()
    )
    return {LINKS: Interfaces(interfaces=states)}


def test_another_mode_of_a_bond_needs_the_other_end_to_follow() -> None:
    (finding,) = found({"interfaces": {"bond0": {"mode": "balance-xor"}}}, first=BOND)
    assert kinds([finding]) == [("possible", "traffic", "/interfaces/bond0/mode")]
    assert "until its other end is set to match: its Mode becomes balance-xor" in finding.text


def test_a_bond_that_needs_two_members_is_down_with_one() -> None:
    two = {"interfaces": {**BOND["interfaces"], "bond0": {**BOND["interfaces"]["bond0"], "minimum_links": 2}}}
    texts = [one.text for one in found({"interfaces": {"nic9": {"enabled": False}}}, first=two)]
    why = "fewer of its members are enabled than the 2 that it needs."
    assert any(text.endswith(f"no longer reached on bond0: {why}") for text in texts)
    assert any("10.89.0.0/24 are no longer reached on bond0.7" in text for text in texts)


@pytest.mark.parametrize(
    ("links", "grades"),
    [
        ({"nic8": "up", "nic9": "down"}, ["certain"]),
        ({"nic8": "up", "nic9": "up"}, []),
        ({"nic8": "down", "nic9": "down"}, []),
    ],
)
def test_the_last_member_with_a_link_takes_the_bond_along(links: dict[str, str], grades: list[str]) -> None:
    """The other member is enabled, but has no link."""
    left = {"interfaces": {"bond0": {"members": ["nic9"]}}}
    lost = [one for one in found(left, first=BOND, facts=_linked(**links)) if one.kind == "traffic"]
    assert [one.grade for one in lost] == grades
    for finding in lost:
        assert finding.text == (
            "No packet passes bond0 any more: it needs 1 member with a link, and of those that are left none "
            "has one."
        )


def test_a_member_that_comes_may_have_a_link() -> None:
    nic = {"type": "ethernet", "match": {"device": "eth7"}}
    instead = {"interfaces": {"bond0": {"members": ["nic9", "nic7"]}, "nic7": nic}}
    links = _linked(nic8="up", nic9="down", nic7="up")
    (finding,) = [one for one in found(instead, first=BOND, facts=links) if one.kind == "traffic"]
    assert (finding.grade, finding.depends_on) == ("possible", "nic7 has no link")


def test_more_members_needed_than_have_a_link_take_the_bond_down() -> None:
    more = {"interfaces": {"bond0": {"minimum_links": 2}}}
    (finding,) = found(more, first=BOND, facts=_linked(nic8="up", nic9="down"))
    assert (finding.grade, finding.evidence) == ("certain", "nic8 is up; nic9 is down")
    assert found(more, first=BOND, facts=_linked(nic8="up", nic9="up")) == []


TUNNEL: dict[str, Any] = {
    "interfaces": {
        "gre0": {
            "type": "gre",
            "source": "192.0.2.2",
            "destination": "192.0.2.1",
            "addresses": ["10.99.0.1/30"],
        },
        "gre1": {
            "type": "gre",
            "source": "lo1",
            "destination": "198.51.100.7",
            "addresses": ["10.99.1.1/30"],
        },
    }
}


def test_a_tunnel_that_begins_elsewhere_needs_its_other_end_to_follow() -> None:
    moved = {"interfaces": {"lo1": {"addresses": ["10.255.0.7/32"]}}}
    (finding,) = [one for one in found(moved, first=TUNNEL) if "gre1" in one.text]
    assert kinds([finding]) == [("possible", "traffic", "/interfaces/gre1")]
    assert "are sent from 10.255.0.7, and no longer from 10.255.0.1" in finding.text
    assert found({"interfaces": {"gre0": {"source": "wan0"}}}, first=TUNNEL) == [], "the same address"
    (named,) = found({"interfaces": {"gre0": {"source": "10.20.0.1"}}}, first=TUNNEL)
    assert named.path == "/interfaces/gre0/source"


def test_a_tunnel_goes_with_the_interface_of_its_source_and_the_network_of_its_end() -> None:
    off = {"interfaces": {"wan0": {"enabled": False}}}
    about = [one for one in found(off, first=TUNNEL) if "gre0" in one.text]
    source, end = [one for one in about if one.text.startswith("No packet passes gre0 any more")]
    assert source.text.endswith(" gre0 any more: wan0, which has the source address 192.0.2.2, is down.")
    assert end.depends_on == "no route leads to 192.0.2.1"
