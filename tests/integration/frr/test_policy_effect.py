"""A changed policy takes effect on existing routes, and resets nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.frr.conftest import PEER, Pair, configure
from tests.integration.frr.harness import wait_until

pytestmark = pytest.mark.root
ALL = {f"198.51.{at}.0/24" for at in range(100, 110)}
FIRST = "198.51.100.0/24"


def _document(pair: Pair, policy: dict[str, Any], **exchanged: Any) -> dict[str, Any]:
    document = pair.near_routing() | {"policy": policy}
    # One session is enough, or the other would bring the routes back.
    document["bgp"]["neighbors"] = {PEER: document["bgp"]["neighbors"][PEER] | {"ipv4_unicast": exchanged}}
    return document


def _only(prefix: str | None) -> dict[str, Any]:
    rules: dict[str, Any] = {"20": {"action": "deny", "prefix": "10.0.0.0/8"}}
    if prefix is not None:
        rules["10"] = (
            {"action": "permit", "prefix": prefix, "le": 32}
            if prefix.endswith("16")
            else {
                "action": "permit",
                "prefix": prefix,
            }
        )
    return {"rules": rules}


def _wait_received(pair: Pair, prefixes: set[str]) -> None:
    wait_until(lambda: pair.received() == prefixes, f"receiving {len(prefixes)} prefixes", 15)


def test_prefix_list_in(pair: Pair) -> None:
    configure(
        pair.client, _document(pair, {"prefix_lists": {"p": _only("198.51.0.0/16")}}, prefix_list_in="p")
    )
    _wait_received(pair, ALL)
    dropped = pair.dropped(PEER)
    configure(pair.client, _document(pair, {"prefix_lists": {"p": _only(FIRST)}}, prefix_list_in="p"))
    _wait_received(pair, {FIRST})
    configure(
        pair.client, _document(pair, {"prefix_lists": {"p": _only("198.51.0.0/16")}}, prefix_list_in="p")
    )
    _wait_received(pair, ALL)
    configure(pair.client, _document(pair, {"prefix_lists": {"p": {"rules": {}}}}, prefix_list_in="p"))
    _wait_received(pair, set())
    assert pair.dropped(PEER) == dropped


def test_route_map_in_and_the_list_it_names(pair: Pair) -> None:
    def policy(prefix: str, **rule: Any) -> dict[str, Any]:
        lists = {"p": _only(prefix)}
        rules = {"10": {"action": "permit", "match": {"prefix_list": "p"}, **rule}}
        return {"prefix_lists": lists, "route_maps": {"m": {"rules": rules}}}

    configure(pair.client, _document(pair, policy("198.51.0.0/16"), route_map_in="m"))
    _wait_received(pair, ALL)
    dropped = pair.dropped(PEER)
    configure(pair.client, _document(pair, policy(FIRST), route_map_in="m"))
    _wait_received(pair, {FIRST})
    configure(pair.client, _document(pair, policy(FIRST, set={"metric": 77}), route_map_in="m"))
    wait_until(
        lambda: [i["routes"][0]["metric"] for i in [pair.client.rib_lookup("198.51.100.1")] if i] == [77],
        "a changed metric",
    )
    configure(pair.client, _document(pair, policy("198.51.0.0/16", action="deny"), route_map_in="m"))
    _wait_received(pair, set())
    assert pair.dropped(PEER) == dropped


def test_empty_route_map_denies_as_the_document_says(pair: Pair) -> None:
    maps = {"m": {"rules": {}}, "caller": {"rules": {"10": {"action": "permit", "call": "m"}}}}
    configure(pair.client, _document(pair, {"route_maps": maps}, route_map_in="caller"))
    _wait_received(pair, set())
    maps["m"] = {"rules": {"10": {"action": "permit"}}}
    configure(pair.client, _document(pair, {"route_maps": maps}, route_map_in="caller"))
    _wait_received(pair, ALL)


def test_community_and_as_path_lists(pair: Pair) -> None:
    def policy(regex: str) -> dict[str, Any]:
        lists = {"a": {"rules": {"5": {"action": "permit", "regex": regex}}}}
        rules = {"10": {"action": "permit", "match": {"as_path_list": "a"}}}
        return {"as_path_lists": lists, "route_maps": {"m": {"rules": rules}}}

    configure(pair.client, _document(pair, policy("^65001$"), route_map_in="m"))
    _wait_received(pair, ALL)
    configure(pair.client, _document(pair, policy("_64999_"), route_map_in="m"))
    _wait_received(pair, set())


def test_requiring_policy_takes_and_gives_back_routes(pair: Pair) -> None:
    document = _document(pair, {})
    configure(pair.client, document)
    _wait_received(pair, ALL)
    document["bgp"]["ebgp_requires_policy"] = True
    configure(pair.client, document)
    _wait_received(pair, set())
    document["bgp"]["ebgp_requires_policy"] = False
    configure(pair.client, document)
    _wait_received(pair, ALL)


def test_prefix_list_out(pair: Pair) -> None:
    def announced() -> set[str]:
        page = pair.far_client.bgp_routes(neighbor="10.9.0.1")
        return {item["prefix"] for item in page.items}

    def document(prefix: str) -> dict[str, Any]:
        found = _document(pair, {"prefix_lists": {"p": _only(prefix)}}, prefix_list_out="p")
        found["static"] = {f"203.0.{at}.0/24": {"blackhole": True} for at in range(3)}
        found["bgp"]["ipv4_unicast"] = {"redistribute": {"static": {}}}
        return found

    configure(pair.client, document("203.0.0.0/16"))
    wait_until(lambda: announced() == {f"203.0.{at}.0/24" for at in range(3)}, "three announcements")
    configure(pair.client, document("203.0.1.0/24"))
    wait_until(lambda: announced() == {"203.0.1.0/24"}, "one announcement left")
