"""Steps: their order, words, impact and paths."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from frr_config import (
    V8_4,
    V10_3,
    FrrConfig,
    FrrConfigError,
    FrrVersion,
    Line,
    Routing,
    Step,
    masked_diff,
    plan,
    render,
)
from tests.property.routing_documents import random_routing

INTERFACES = {"d0": ["10.9.0.1/24", "2001:db8:9::1/64"], "d1": ["10.9.1.1/24"]}
BASE: dict[str, Any] = {
    "static": {"198.51.100.0/24": {"next_hops": [{"address": "10.9.0.2"}]}},
    "bgp": {
        "asn": 65000,
        "router_id": "10.255.0.1",
        "peer_groups": {"g": {"remote_asn": 65001, "ipv4_unicast": {"route_map_in": "m"}}},
        "neighbors": {
            "10.9.0.2": {"peer_group": "g", "password": "first-secret"},
            "10.9.0.3": {"remote_asn": 65003, "ipv4_unicast": {"prefix_list_in": "p"}},
        },
        "ipv4_unicast": {"networks": ["10.0.0.0/8"]},
    },
    "ospf": {"router_id": "10.255.0.1", "interfaces": {"d0": {"area": "0"}}},
    "policy": {
        "prefix_lists": {"p": {"rules": {"5": {"action": "permit", "prefix": "10.0.0.0/8"}}}},
        "route_maps": {
            "m": {"rules": {"10": {"action": "permit", "match": {"prefix_list": "p"}, "call": "n"}}},
            "n": {"rules": {"10": {"action": "permit"}}},
        },
    },
}


def _config(document: dict[str, Any]) -> FrrConfig:
    return render(Routing.model_validate(document), V8_4)


def _steps(change: Any) -> tuple[Step, ...]:
    document = copy.deepcopy(BASE)
    change(document)
    return plan(_config(document), _config(BASE))


def test_nothing_to_do() -> None:
    assert plan(_config(BASE), _config(BASE)) == ()


def test_what_is_named_comes_first_and_goes_last() -> None:
    up = [step.summary for step in plan(_config(BASE), FrrConfig.empty(V8_4))]
    assert up == [
        "add IPv4 prefix list p",
        "add rule 10 of route map n",
        "add rule 10 of route map m",
        "add static route 198.51.100.0/24 via 10.9.0.2",
        "add BGP policy delay",
        "add BGP AS 65000",
        "add BGP peer group g",
        "add BGP neighbor 10.9.0.2",
        "add BGP neighbor 10.9.0.3",
        "add BGP IPv4 unicast",
        "add BGP IPv6 unicast",
        "add OSPF",
        "add OSPF on d0",
    ]
    down = [(step.phase, step.summary) for step in plan(FrrConfig.empty(V8_4), _config(BASE))]
    assert down == [
        ("withdraw", "remove static route 198.51.100.0/24 via 10.9.0.2"),
        ("withdraw", "remove BGP AS 65000"),
        ("withdraw", "remove BGP policy delay"),
        ("withdraw", "remove OSPF on d0"),
        ("withdraw", "remove OSPF"),
        ("announce", "remove rule 10 of route map m"),
        ("announce", "remove rule 10 of route map n"),
        ("announce", "remove IPv4 prefix list p"),
    ]


def test_changed_secret_is_masked_everywhere_people_look() -> None:
    steps = _steps(lambda d: d["bgp"]["neighbors"]["10.9.0.2"].update(password="other-secret"))
    (step,) = steps
    assert step.summary == "change BGP neighbor 10.9.0.2: password ********"
    assert step.impact == "resets bgp neighbor 10.9.0.2"
    assert step.path == "/routing/bgp/neighbors/10.9.0.2"
    assert "secret" not in f"{step.summary} {step.undo_summary} {step.path}"
    assert [command.text for command in step.do] == ["neighbor 10.9.0.2 password other-secret"]
    assert [command.text for command in step.undo] == ["neighbor 10.9.0.2 password first-secret"]
    document = copy.deepcopy(BASE)
    document["bgp"]["neighbors"]["10.9.0.2"]["password"] = "other-secret"
    diff = masked_diff(_config(BASE), _config(document))
    assert "secret" not in "\n".join(diff)
    assert [line for line in diff if line[0] in "+-"] == [
        "- neighbor 10.9.0.2 password ********",
        "+ neighbor 10.9.0.2 password ********",
    ]
    assert "secret" not in _config(BASE).masked_text()
    assert "first-secret" in _config(BASE).text()


def test_prefix_list_of_a_neighbor_asks_for_its_routes_again() -> None:
    (step,) = _steps(lambda d: d["policy"]["prefix_lists"]["p"]["rules"]["5"].update(le=24))
    assert step.impact == "none"
    assert [(command.mode, command.text) for command in step.do] == [
        ("configure", "ip prefix-list p seq 5 permit 10.0.0.0/8 le 24"),
        ("exec", "clear bgp ipv4 unicast 10.9.0.3 soft in"),
    ]


def test_group_that_activates_a_family_makes_its_members_anew() -> None:
    steps = _steps(lambda d: d["bgp"]["peer_groups"]["g"].update(ipv6_unicast={}))
    assert [(step.phase, step.summary, step.impact) for step in steps] == [
        ("withdraw", "remove BGP neighbor 10.9.0.2", "resets bgp neighbor 10.9.0.2"),
        ("announce", "change BGP peer group g: activate", "resets bgp neighbor 10.9.0.2"),
        ("announce", "add BGP neighbor 10.9.0.2", "none"),
    ]


def test_static_route_changes_without_a_gap() -> None:
    route = {"next_hops": [{"address": "10.9.0.3"}]}
    (step,) = _steps(lambda d: d["static"].update({"198.51.100.0/24": route}))
    assert [command.text for command in step.do] == [
        "ip route 198.51.100.0/24 10.9.0.3",
        "no ip route 198.51.100.0/24 10.9.0.2",
    ]
    assert step.path == "/routing/static/198.51.100.0~124"


def test_blackhole_cannot_stand_beside_a_path() -> None:
    (step,) = _steps(lambda d: d["static"].update({"198.51.100.0/24": {"blackhole": True}}))
    assert [command.text for command in step.do] == [
        "no ip route 198.51.100.0/24 10.9.0.2",
        "ip route 198.51.100.0/24 blackhole",
    ]


def test_rules_that_change_places_go_before_they_come() -> None:
    first = {
        "rules": {
            "5": {"action": "permit", "prefix": "10.0.0.0/8"},
            "10": {"action": "deny", "prefix": "11.0.0.0/8"},
        }
    }
    second = {"rules": {"5": first["rules"]["10"], "10": first["rules"]["5"]}}
    before, after = ({"policy": {"prefix_lists": {"p": rules}}} for rules in (first, second))
    (step,) = plan(_config(after), _config(before))
    assert [command.text.startswith("no ") for command in step.do] == [True, True, False, False]


def test_foreign_lines_go_with_what_they_are_in() -> None:
    config = _config(BASE)
    isis = "router isis x"
    typed = [
        Line((), isis),
        Line((isis,), "net 49.0001.0000.0000.0001.00"),
        Line(("interface d0",), "ip address 192.0.2.9/24"),
    ]
    held = {line: frozenset({"zebra"}) for line in typed}
    steps = plan(config, FrrConfig(V8_4, {**config.holders, **held}))
    assert [(step.summary, step.path, len(step.do)) for step in steps] == [
        ("remove foreign configuration: interface d0", "", 1),
        ("remove foreign configuration: router isis x", "", 1),
    ]
    assert [step.do[0].text for step in steps] == ["no ip address 192.0.2.9/24", "no router isis x"]


@pytest.mark.parametrize("version", [V8_4, V10_3])
def test_steps_round_trip_and_name_no_secret(version: FrrVersion) -> None:
    rng = random.Random(5)
    before = FrrConfig.empty(version)
    for _ in range(40):
        routing = random_routing(rng, INTERFACES)
        desired = render(routing, version)
        for step in plan(desired, before):
            assert Step.from_json(step.to_json()) == step
            assert step.impact == "none" or step.impact.startswith("resets ")
            assert "\n" not in step.summary + step.undo_summary
            assert "password ********" in step.summary or "password " not in step.summary
        before = desired


def test_plan_is_the_same_whatever_the_order_of_the_document() -> None:
    backwards = {key: BASE[key] for key in reversed(BASE)}
    backwards["bgp"] = {key: BASE["bgp"][key] for key in reversed(BASE["bgp"])}
    assert plan(_config(backwards), FrrConfig.empty(V8_4)) == plan(_config(BASE), FrrConfig.empty(V8_4))


@pytest.mark.parametrize("broken", [None, {}, {"phase": "create"}, {"phase": "withdraw", "summary": ""}])
def test_broken_step(broken: object) -> None:
    with pytest.raises(FrrConfigError):
        Step.from_json(broken)


def test_a_tunnel_is_point_to_point_by_itself() -> None:
    settings = {"area": "0.0.0.0", "network_type": "point-to-point"}
    ospf = {"router_id": "10.255.0.1", "interfaces": {"gre1": settings, "lan0": settings}}
    routing = Routing.model_validate({"ospf": ospf})
    told = "\n".join(line.text for line in render(routing.over_tunnels({"gre1"}), V8_4).lines())
    assert told.count("ip ospf network point-to-point") == 1
    assert routing.over_tunnels({"wan0"}) is routing
