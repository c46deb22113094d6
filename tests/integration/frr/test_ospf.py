"""OSPF between two real ospfd: the effect of a change on the adjacency, and the reported state."""

from __future__ import annotations

import copy
import time
from typing import Any

import pytest

from frr_config import Routing, plan, render
from tests.integration.frr.conftest import Pair, configure
from tests.integration.frr.harness import wait_until

pytestmark = pytest.mark.root
NEAR_ID, FAR_ID = "10.255.0.1", "10.255.0.9"
_DEAD_S = 3


def _ospf(router_id: str) -> dict[str, Any]:
    interface = {
        "area": "0",
        "hello_interval_s": 1,
        "dead_interval_s": _DEAD_S,
        "network_type": "point-to-point",
    }
    return {"ospf": {"router_id": router_id, "interfaces": {"d0": interface}}}


def _full(pair: Pair, router_id: str = FAR_ID) -> bool:
    neighbors = pair.client.ospf_neighbors().get("neighbors", {}).get(router_id, [])
    return any(
        str(neighbor.get("nbrState", neighbor.get("state"))).startswith("Full") for neighbor in neighbors
    )


def _changes(pair: Pair) -> int:
    """How many times the adjacency changed its state."""
    found = pair.client.ospf_neighbors()["neighbors"][FAR_ID]
    return int(found[0]["stateChangeCounter"])


@pytest.fixture
def adjacent(running_pair: Pair) -> Pair:
    configure(running_pair.far_client, _ospf(FAR_ID))
    configure(running_pair.client, _ospf(NEAR_ID))
    wait_until(lambda: _full(running_pair), "adjacency", 30)
    return running_pair


def _apply(pair: Pair, document: dict[str, Any]) -> set[str]:
    routing = Routing.model_validate(document)
    steps = plan(render(routing, pair.client.version()), pair.client.observe())
    for step in steps:
        pair.client.apply(step)
    assert plan(render(routing, pair.client.version()), pair.client.observe()) == ()
    return {step.impact for step in steps} - {"none"}


def test_harmless_changes(adjacent: Pair) -> None:
    before = _changes(adjacent)
    document = copy.deepcopy(_ospf(NEAR_ID))
    document["ospf"]["interfaces"]["d0"] |= {"cost": 77, "priority": 5}
    document["ospf"]["interfaces"]["d1"] = {"area": "0.0.0.1"}
    document["ospf"] |= {
        "reference_bandwidth_mbps": 1000,
        "redistribute": {"connected": {"metric": 5, "route_map": "m"}, "static": {}},
        "default_information": {"always": True, "metric": 3},
    }
    document["policy"] = {"route_maps": {"m": {"rules": {"10": {"action": "permit"}}}}}
    assert _apply(adjacent, document) == set()
    assert _apply(adjacent, _ospf(NEAR_ID)) == {"resets ospf on d1"}
    time.sleep(_DEAD_S + 1)
    assert _changes(adjacent) == before


@pytest.mark.parametrize(
    "change",
    [
        {"area": "0.0.0.7"},
        {"passive": True},
        {"hello_interval_s": 2},
        {"dead_interval_s": 9},
        {"authentication": {"type": "md5", "key": "secret", "key_id": 3}},
        {"authentication": {"type": "simple", "key": "a|b!#"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_resets_are_announced(adjacent: Pair, change: dict[str, Any]) -> None:
    document = copy.deepcopy(_ospf(NEAR_ID))
    document["ospf"]["interfaces"]["d0"] |= change
    assert _apply(adjacent, document) == {"resets ospf on d0"}
    wait_until(lambda: not _full(adjacent), "the adjacency going", 2 * _DEAD_S + 2)


def test_same_key_on_both_sides(adjacent: Pair) -> None:
    key = {"authentication": {"type": "md5", "key": 'k|!"#$?x', "key_id": 9}}
    for client, router_id in ((adjacent.client, NEAR_ID), (adjacent.far_client, FAR_ID)):
        document = _ospf(router_id)
        document["ospf"]["interfaces"]["d0"] |= key
        configure(client, document)
    time.sleep(_DEAD_S + 1)
    wait_until(lambda: _full(adjacent), "adjacency with a key", 20)


def test_router_id_takes_effect(adjacent: Pair) -> None:
    assert _apply(adjacent, _ospf("10.255.0.5")) == {"resets ospf"}
    wait_until(lambda: adjacent.client.ospf_summary().get("routerId") == "10.255.0.5", "the new router id")


def test_stub_area_resets(adjacent: Pair) -> None:
    document = _ospf(NEAR_ID)
    document["ospf"]["areas"] = {"3": {"type": "stub", "no_summary": True}}
    assert _apply(adjacent, document) == {"resets ospf"}
    document["ospf"]["areas"] = {"3": {"type": "stub"}}
    assert _apply(adjacent, document) == {"resets ospf"}


def test_state(adjacent: Pair) -> None:
    client = adjacent.client
    assert client.ospf_summary()["routerId"] == NEAR_ID
    assert "d0" in client.ospf_interfaces()["interfaces"]
    assert client.ospf_database()
    assert client.rib(protocol="ospf").items


def test_redistribution_policy_takes_effect(adjacent: Pair) -> None:
    """What the neighbor hears follows a prefix list that a route map names."""

    def document(prefix: str) -> dict[str, Any]:
        found = _ospf(NEAR_ID)
        found["static"] = {f"203.0.{at}.0/24": {"blackhole": True} for at in range(3)}
        found["policy"] = {
            "prefix_lists": {"p": {"rules": {"5": {"action": "permit", "prefix": prefix, "le": 32}}}},
            "route_maps": {"m": {"rules": {"10": {"action": "permit", "match": {"prefix_list": "p"}}}}},
        }
        found["ospf"]["redistribute"] = {"static": {"route_map": "m"}}
        return found

    def heard() -> set[str]:
        found = {item["prefix"] for item in adjacent.far_client.rib(protocol="ospf", limit=100).items}
        return {prefix for prefix in found if prefix.startswith("203.0.")}

    configure(adjacent.client, document("203.0.0.0/16"))
    wait_until(lambda: len(heard()) == 3, "three external routes", 30)
    configure(adjacent.client, document("203.0.1.0/24"))
    wait_until(lambda: heard() == {"203.0.1.0/24"}, "one external route left", 30)
