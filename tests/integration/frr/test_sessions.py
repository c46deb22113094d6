"""Which changes reset a session: a plan says so for exactly those."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import pytest

from frr_config import Routing, plan, render
from tests.integration.frr.conftest import OTHER_PEER, PEER, PEER6, Pair, configure

pytestmark = pytest.mark.root
Change = Callable[[dict[str, Any]], None]
_SETTLE_S = 0.6
"""bgpd closes a session in the event loop's next rounds, well within this."""


def _neighbor(**values: Any) -> Change:
    return lambda bgp: bgp["neighbors"][PEER].update(values)


def _exchanged(**values: Any) -> Change:
    return lambda bgp: bgp["neighbors"][PEER]["ipv4_unicast"].update(values)


def _instance(**values: Any) -> Change:
    return lambda bgp: bgp.update(values)


RESETS: dict[str, Change] = {
    "password": _neighbor(password="new|!#secret"),
    "multihop": _neighbor(ebgp_multihop=3),
    "ttl security": _neighbor(ttl_security_hops=1),
    "update source address": _neighbor(update_source="10.9.0.1"),
    "update source interface": _neighbor(update_source="d0"),
    "another family": _neighbor(ipv6_unicast={}),
    "other family": _neighbor(ipv4_unicast=None, ipv6_unicast={}),
    "passive": _neighbor(passive=True),
    "shutdown": _neighbor(enabled=False),
    "remote AS": _neighbor(remote_asn=65002),
    "external": _neighbor(remote_asn="external"),
    "peer group": lambda bgp: bgp.update(
        peer_groups={"g": {}},
        neighbors=bgp["neighbors"] | {PEER: bgp["neighbors"][PEER] | {"peer_group": "g"}},
    ),
    "removal": lambda bgp: bgp["neighbors"].pop(PEER),
}
KEEPS: dict[str, Change] = {
    "description": _neighbor(description="a new name"),
    "timers": _neighbor(timers={"keepalive_s": 3, "hold_s": 9}),
    "connect retry": _neighbor(connect_retry_s=7),
    "route map in": _exchanged(route_map_in="all"),
    "route map out": _exchanged(route_map_out="all"),
    "prefix list in": _exchanged(prefix_list_in="some"),
    "prefix list out": _exchanged(prefix_list_out="some"),
    "maximum prefixes": _exchanged(maximum_prefix=1000),
    "maximum prefixes, warning": _exchanged(maximum_prefix=1, maximum_prefix_warning_only=True),
    "next hop self": _exchanged(next_hop_self=True),
    "soft reconfiguration": _exchanged(soft_reconfiguration_inbound=True),
    "default originate": _exchanged(default_originate=True),
    "allowas in": _exchanged(allowas_in=2),
    "remove private AS": _exchanged(remove_private_as=True),
    "instance timers": _instance(timers={"keepalive_s": 5, "hold_s": 15}),
    "requires policy": _instance(ebgp_requires_policy=True),
    "networks": _instance(ipv4_unicast={"networks": ["10.9.0.0/24"], "maximum_paths": 4}),
    "redistribution": _instance(
        ipv4_unicast={"redistribute": {"connected": {"metric": 5, "route_map": "all"}}}
    ),
    "another neighbor": lambda bgp: bgp["neighbors"].update(
        {"10.9.1.3": {"remote_asn": 65003, "ipv4_unicast": {}, "password": "x"}}
    ),
    "a peer group": _instance(peer_groups={"g": {"password": "x", "ipv4_unicast": {}}}),
}
POLICY = {
    "prefix_lists": {"some": {"rules": {"10": {"action": "permit", "prefix": "198.51.0.0/16", "le": 32}}}},
    "route_maps": {"all": {"rules": {"10": {"action": "permit"}}}},
}


def _changed(pair: Pair, change: Change) -> Routing:
    document = copy.deepcopy(pair.near_routing() | {"policy": POLICY})
    change(document["bgp"])
    return Routing.model_validate(document)


@pytest.mark.parametrize("name", RESETS)
def test_reset_is_announced(pair: Pair, name: str) -> None:
    configure(pair.client, pair.near_routing() | {"policy": POLICY})
    before, others = pair.connection(PEER), [pair.dropped(OTHER_PEER), pair.dropped(PEER6)]
    steps = plan(render(_changed(pair, RESETS[name]), pair.client.version()), pair.client.observe())
    assert {step.impact for step in steps} - {"none"} == {f"resets bgp neighbor {PEER}"}
    for step in steps:
        pair.client.apply(step)
    time.sleep(_SETTLE_S)
    assert pair.connection(PEER) != before
    assert [pair.dropped(OTHER_PEER), pair.dropped(PEER6)] == others


@pytest.mark.parametrize("name", KEEPS)
def test_the_rest_resets_nothing(pair: Pair, name: str) -> None:
    configure(pair.client, pair.near_routing() | {"policy": POLICY})
    before = [pair.dropped(address) for address in (PEER, OTHER_PEER, PEER6)]
    steps = plan(render(_changed(pair, KEEPS[name]), pair.client.version()), pair.client.observe())
    assert steps
    assert {step.impact for step in steps} == {"none"}
    for step in steps:
        pair.client.apply(step)
    for step in reversed(steps):
        pair.client.undo(step)
    for step in steps:
        pair.client.apply(step)
    time.sleep(_SETTLE_S)
    assert [pair.dropped(address) for address in (PEER, OTHER_PEER, PEER6)] == before


def test_router_id_resets_all_neighbors(pair: Pair) -> None:
    before = [pair.dropped(address) for address in (PEER, OTHER_PEER, PEER6)]
    routing = _changed(pair, _instance(router_id="10.255.0.7"))
    steps = plan(render(routing, pair.client.version()), pair.client.observe())
    impacts = {step.impact for step in steps} - {"none"}
    assert impacts == {f"resets bgp neighbors {PEER}, {OTHER_PEER}, {PEER6}"}
    for step in steps:
        pair.client.apply(step)
    time.sleep(_SETTLE_S)
    after = [pair.dropped(address) for address in (PEER, OTHER_PEER, PEER6)]
    assert all(now > then for now, then in zip(after, before, strict=True))


def test_another_as_number_makes_the_instance_anew(pair: Pair) -> None:
    routing = _changed(pair, _instance(asn=64999))
    steps = plan(render(routing, pair.client.version()), pair.client.observe())
    assert steps[0].summary == "remove BGP AS 65000"
    assert steps[0].impact == f"resets bgp neighbors {PEER}, {OTHER_PEER}, {PEER6}"
    configure(pair.client, routing)
    configure(pair.client, pair.near_routing())
    pair.wait_established(PEER, OTHER_PEER, PEER6)


def test_untouched_neighbor_survives_fifty_changes(pair: Pair) -> None:
    """Changes of everything around it: the other neighbor, lists, maps, routes, OSPF."""
    since, dropped = pair.connection(PEER), pair.dropped(PEER)
    assert since is not None
    for at in range(50):
        document = copy.deepcopy(pair.near_routing())
        bgp = document["bgp"]
        bgp["neighbors"][OTHER_PEER].update(timers={"keepalive_s": 3, "hold_s": 9 + at}, description=f"n{at}")
        bgp["neighbors"][f"10.9.1.{10 + at}"] = {"remote_asn": 65100 + at, "ipv4_unicast": {}}
        bgp["ipv4_unicast"] = {"networks": [f"203.0.{at}.0/24"], "redistribute": {"static": {"metric": at}}}
        document["static"] = {f"203.0.{at}.0/24": {"blackhole": True}}
        document["policy"] = {
            "prefix_lists": {
                f"pl{at % 3}": {"rules": {"5": {"action": "permit", "prefix": f"10.{at}.0.0/16"}}}
            },
            "route_maps": {
                "m": {"rules": {"10": {"action": "permit", "set": {"local_preference": at}}}},
                f"m{at % 5}": {"rules": {"10": {"action": "deny", "match": {"prefix_list": f"pl{at % 3}"}}}},
            },
        }
        document["ospf"] = {"router_id": "10.255.0.1", "interfaces": {"d1": {"area": "0", "cost": at + 1}}}
        configure(pair.client, document)
    assert pair.dropped(PEER) == dropped
    assert pair.connection(PEER) == since


def test_password_brings_the_session_up_on_both_sides(pair: Pair) -> None:
    secret = "a|b!c#d?e\"f'g\\h$i;j"
    configure(pair.far_client, pair.far_routing(password=secret))
    document = pair.near_routing()
    document["bgp"]["neighbors"][PEER]["password"] = secret
    configure(pair.client, document)
    pair.wait_established(PEER)
    document["bgp"]["neighbors"][PEER]["password"] = "wrong"
    dropped = pair.dropped(PEER)
    configure(pair.client, document)
    time.sleep(2)
    assert not pair.established(PEER)
    assert pair.dropped(PEER) > dropped


def test_route_reflector_client_resets(pair: Pair) -> None:
    far, near = pair.far_routing(), pair.near_routing()
    far["bgp"]["asn"] = 65000
    for neighbor in near["bgp"]["neighbors"].values():
        neighbor["remote_asn"] = "internal"
    configure(pair.far_client, far)
    configure(pair.client, near)
    pair.wait_established(PEER)
    before = pair.connection(PEER)
    near["bgp"]["neighbors"][PEER]["ipv4_unicast"] = {"route_reflector_client": True}
    steps = plan(render(Routing.model_validate(near), pair.client.version()), pair.client.observe())
    # Without a reset: that what route maps set is sent with reflected routes, too.
    assert sorted(step.impact for step in steps) == ["none", f"resets bgp neighbor {PEER}"]
    for step in steps:
        pair.client.apply(step)
    time.sleep(_SETTLE_S)
    assert pair.connection(PEER) != before
