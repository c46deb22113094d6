"""Settings that decide which routes are exchanged over a session that stays."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.features.bgp.sessions import SESSIONS
from appliance.state.bgp import BgpState
from tests.unit.impact.changes import INTERNAL, PEER, found, kinds, session

PATH = "/routing/bgp/neighbors"
WITHOUT_POLICY = {"neighbors": {PEER: {"ipv4_unicast": {"route_map_in": None}}}}


def _bgp(**settings: Any) -> dict[str, Any]:
    return {"routing": {"bgp": settings}}


def _family(address: str, **settings: Any) -> dict[str, Any]:
    return _bgp(neighbors={address: {"ipv4_unicast": settings}})


def test_a_neighbor_without_the_policy_that_is_required_loses_every_route() -> None:
    first = _bgp(ebgp_requires_policy=False, **WITHOUT_POLICY)
    refused, withdrawn = found(_bgp(ebgp_requires_policy=True), first=first)
    assert kinds([refused, withdrawn]) == [("certain", "routes", f"{PATH}/{PEER}/ipv4_unicast")] * 2
    assert refused.text.startswith(f"Every IPv4 unicast route from {PEER} is refused: no policy is set")
    assert withdrawn.text.startswith(f"Every IPv4 unicast route sent to {PEER} is withdrawn")
    assert "1,000 IPv4 unicast prefixes received" in refused.evidence
    down = {SESSIONS: BgpState(neighbors={PEER: session("Active")})}
    assert found(_bgp(ebgp_requires_policy=True), first=first, facts=down) == []


def test_the_last_policy_that_goes_is_certain_where_one_is_required_and_not_counted() -> None:
    (refused,) = found(_bgp(**WITHOUT_POLICY))
    assert refused.grade == "certain" and "is refused: no policy is set" in refused.text


def test_routes_begin_where_no_policy_is_required_any_more() -> None:
    received, sent = found(_bgp(ebgp_requires_policy=False), first=_bgp(**WITHOUT_POLICY))
    assert (received.grade, sent.grade) == ("possible", "possible")
    assert f"routes from {PEER} are accepted from now on" in received.text
    assert f"routes are sent to {PEER} from now on" in sent.text
    # Its own map for received routes existed before.
    (alone,) = found(_bgp(ebgp_requires_policy=False))
    assert "are sent to" in alone.text


@pytest.mark.parametrize(
    ("field", "on", "off"),
    [
        ("default_originate", "is sent a default route", "is no longer sent a default route"),
        ("next_hop_self", "with this router as their next hop", "with the next hop that they came with"),
        ("route_reflector_client", "is sent the routes of other", "no longer sent the routes of other"),
        ("remove_private_as", "without private AS numbers", "with their private AS numbers"),
    ],
)
def test_a_switch_turned_on_or_off_sends_other_routes(field: str, on: str, off: str) -> None:
    """The session stays, or comes up again, but its routes are not the same as before."""
    turned_on = _family(INTERNAL, **{field: True})
    if field == "remove_private_as":
        turned_on = _family(PEER, **{field: True})
    (address,) = turned_on["routing"]["bgp"]["neighbors"]
    (begun,) = found(turned_on)
    (ended,) = found(_family(address, **{field: None}), first=turned_on)
    path = f"{PATH}/{address}/ipv4_unicast/{field}"
    assert kinds([begun, ended]) == [("possible", "routes", path)] * 2
    assert on in begun.text and off in ended.text
    assert found({"system": {"hostname": "r2"}}, first=turned_on) == []


def test_own_as_in_paths_may_be_heard_less_or_more_often() -> None:
    first = _family(PEER, allowas_in=2)
    (fewer,) = found(_family(PEER, allowas_in=1), first=first)
    assert fewer.text == (
        f"{PEER} no longer has its routes accepted if this router's AS is in their AS path more than 1 time "
        "(IPv4 unicast)."
    )
    (none,) = found(_family(PEER, allowas_in=None), first=first)
    assert "is in their AS path (IPv4" in none.text
    (more,) = found(_family(PEER, allowas_in=3), first=first)
    assert "up to 3 times" in more.text


AGGREGATE = "203.0.112.0/20"


@pytest.mark.parametrize(
    "announced", [{"networks": [AGGREGATE]}, {"redistribute": {"static": {}}, "networks": []}]
)
def test_a_prefix_is_announced_only_while_the_table_has_it(announced: dict[str, Any]) -> None:
    """The blackhole of an aggregate did not drop packets that longer prefixes match."""
    first = {"routing": {"static": {AGGREGATE: {"blackhole": True}}, "bgp": {"ipv4_unicast": announced}}}
    (finding,) = found({"routing": {"static": {AGGREGATE: None}}}, first=first)
    assert kinds([finding]) == [("possible", "routes", "/routing/bgp/ipv4_unicast")]
    assert finding.text == f"BGP no longer announces {AGGREGATE} to 2 neighbors."
    kept = {"routing": {"static": {AGGREGATE: {"blackhole": None, "next_hops": [{"address": "10.10.0.2"}]}}}}
    assert not [one for one in found(kept, first=first) if one.path.startswith("/routing/bgp")]


def test_what_is_redistributed_by_other_rules_is_told() -> None:
    first = _bgp(ipv4_unicast={"redistribute": {"static": {}, "connected": {"route_map": "in"}}})
    first["routing"]["policy"] = {"route_maps": {"other": {"rules": {"10": {"action": "deny"}}}}}
    (finding,) = found(_bgp(ipv4_unicast={"redistribute": {"static": {"route_map": "other"}}}), first=first)
    assert kinds([finding]) == [("possible", "routes", "/routing/bgp/ipv4_unicast")]
    assert "to 2 neighbors change: static routes: route map other is new" in finding.text
    rules = {"routing": {"policy": {"route_maps": {"in": {"rules": {"10": {"action": "deny"}}}}}}}
    told = [one.text for one in found(rules, first=first) if one.path == "/routing/bgp/ipv4_unicast"]
    assert len(told) == 1 and "connected routes: route map in changes" in told[0]
