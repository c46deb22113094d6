"""Each rule of the watch: what counts as worse, what was intended, and what is only noise."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.document import RouterConfig
from appliance.config.load import parse_document
from appliance.features.bfd import watch as bfd
from appliance.features.bgp import watch as bgp
from appliance.features.interface import watch as interface
from appliance.features.ospf import watch as ospf
from appliance.features.static import watch as static
from appliance.watching.measure import AnyMeasure, Comparison, Span, Worse
from appliance.watching.measures import every_measure
from appliance.watching.probing import MOST, PINGS

Json = dict[str, Any]
WAN = {"type": "ethernet", "match": {"mac": "02:00:00:00:00:01"}, "addresses": ["192.0.2.2/30"]}
NEIGHBOR = {"remote_asn": 65001, "ipv4_unicast": {}}


def _document(**routing: Any) -> RouterConfig:
    return parse_document({"interfaces": {"wan0": WAN}, "routing": routing})


def _bgp(**neighbor: Any) -> RouterConfig:
    neighbors = {"192.0.2.1": {**NEIGHBOR, **neighbor}}
    return _document(bgp={"asn": 65000, "router_id": "192.0.2.2", "neighbors": neighbors})


def _worse(
    measure: AnyMeasure, before: Json, now: Json, after: RouterConfig, **rates: Span[Any]
) -> list[Worse]:
    return list(measure.compares(Comparison(before, now, after, **rates)))


def test_every_measure_says_its_rule_and_shows_what_it_read() -> None:
    measures = every_measure()
    assert {one.name for one in measures} == {
        "BGP sessions", "OSPF adjacencies", "BFD sessions", "links", "forwarding", "drops",
        "destinations of static routes", "pings",
        "NAT mappings and pools", "tunnels", "DHCP relays",
        "BGP sessions of VRFs", "OSPF adjacencies of VRFs", "destinations of static routes of VRFs",
    }  # fmt: skip
    assert all(len(one.rule.split()) > 5 for one in measures)


# BGP.

UP: Json = {"192.0.2.1": {"state": "Established", "prefixes": {"ipv4_unicast": 1000}}}
(BGP,) = bgp.MEASURES


def _session(state: str = "Established", prefixes: int = 1000) -> Json:
    return {"192.0.2.1": {"state": state, "prefixes": {"ipv4_unicast": prefixes}}}


def test_a_session_has_until_the_end_of_the_watch_to_come_back() -> None:
    (worse,) = _worse(BGP, UP, _session("Active", 0), _bgp())
    assert (worse.object, worse.asked_for, worse.lasts_s) == ("192.0.2.1", False, None)
    assert _worse(BGP, UP, UP, _bgp()) == []


def test_a_session_over_its_limit_does_not_come_back() -> None:
    (worse,) = _worse(BGP, UP, _session("Idle (PfxCt)", 0), _bgp())
    assert worse.lasts_s is not None and worse.lasts_s < 5


@pytest.mark.parametrize("after", [_document(), _bgp(enabled=False)])
def test_the_end_of_a_neighbor_that_was_removed_or_disabled_was_asked_for(after: RouterConfig) -> None:
    (worse,) = _worse(BGP, UP, {}, after)
    assert worse.asked_for


def test_a_session_that_was_down_before_cannot_get_worse() -> None:
    assert _worse(BGP, _session("Active", 0), _session("Idle", 0), _bgp()) == []


@pytest.mark.parametrize(("left", "is_worse"), [(1000, False), (900, False), (899, True), (0, True)])
def test_over_a_tenth_of_the_prefixes_of_a_neighbor_may_not_be_missing(left: int, is_worse: bool) -> None:
    found = _worse(BGP, UP, _session(prefixes=left), _bgp())
    assert bool(found) == is_worse
    assert all(not one.asked_for and one.lasts_s is None for one in found)


# OSPF and BFD.

(OSPF,), (BFD,) = ospf.MEASURES, bfd.MEASURES
FULL: Json = {"10.0.0.9 on wan0": {"interface": "wan0", "state": "Full/DR", "full": True}}


@pytest.mark.parametrize(("settings", "asked_for"), [({}, False), ({"passive": True}, True)])
def test_an_adjacency_is_no_longer_full(settings: Json, asked_for: bool) -> None:
    after = _document(
        ospf={"router_id": "192.0.2.2", "interfaces": {"wan0": {"area": "0.0.0.0", **settings}}}
    )
    lower: Json = {"10.0.0.9 on wan0": {"interface": "wan0", "state": "Init", "full": False}}
    for now in ({}, lower):
        (worse,) = _worse(OSPF, FULL, now, after)
        assert (worse.asked_for, worse.lasts_s) == (asked_for, None)
    assert _worse(OSPF, FULL, FULL, after) == []
    (gone,) = _worse(OSPF, FULL, {}, _document())
    assert gone.asked_for


def test_a_bfd_session_is_not_up() -> None:
    up: Json = {"192.0.2.1 on wan0": {"peer": "192.0.2.1", "interface": "wan0", "state": "up"}}
    down: Json = {"192.0.2.1 on wan0": {"peer": "192.0.2.1", "interface": "wan0", "state": "down"}}
    watched = parse_document(
        {
            "interfaces": {"wan0": WAN},
            "routing": {
                "bfd": {"profiles": {"fast": {}}},
                "bgp": {
                    "asn": 65000,
                    "router_id": "192.0.2.2",
                    "neighbors": {"192.0.2.1": {**NEIGHBOR, "bfd_profile": "fast"}},
                },
            },
        }
    )
    (worse,) = _worse(BFD, up, down, watched)
    assert not worse.asked_for
    (gone,) = _worse(BFD, up, {}, _bgp())
    assert gone.asked_for
    assert _worse(BFD, up, up, watched) == []


# Links, forwarding, drops.

LINKS, FORWARDING, DROPS = interface.MEASURES


def test_a_link_goes_down() -> None:
    (worse,) = _worse(LINKS, {"wan0": True}, {"wan0": False}, _document())
    assert (worse.after, worse.asked_for) == ("down", False)
    (worse,) = _worse(LINKS, {"wan0": True}, {}, _document())
    assert worse.after == "missing"
    assert _worse(LINKS, {"wan0": False}, {"wan0": False}, _document()) == []


@pytest.mark.parametrize(
    "after", [parse_document({}), parse_document({"interfaces": {"wan0": {**WAN, "enabled": False}}})]
)
def test_the_link_of_an_interface_that_was_removed_or_disabled_was_asked_for(after: RouterConfig) -> None:
    (worse,) = _worse(LINKS, {"wan0": True}, {}, after)
    assert worse.asked_for


def _counted(forwarded: int, arrived: int) -> Json:
    return {"forwarded": {"ipv6": forwarded}, "arrived": {"ipv6": arrived}}


def _span(earlier: Json, later: Json, elapsed_s: float = 10) -> Span[Any]:
    return Span(earlier, later, elapsed_s)


BUSY = _span(_counted(0, 0), _counted(100, 100))
"""Ten packets a second."""


@pytest.mark.parametrize(
    ("now", "is_worse"),
    [
        (_span(_counted(100, 100), _counted(100, 200)), True),
        (_span(_counted(100, 100), _counted(150, 200)), False),
        (_span(_counted(100, 100), _counted(100, 105)), False),
    ],
    ids=["nothing goes on", "half goes on", "nobody sends any more"],
)
def test_a_family_that_arrives_and_does_not_go_on(now: Span[Any], is_worse: bool) -> None:
    found = _worse(FORWARDING, BUSY.later, now.later, _document(), rates_before=BUSY, rates_now=now)
    assert bool(found) == is_worse
    assert all(one.object == "IPv6" for one in found)


def test_a_family_that_was_hardly_forwarded_says_nothing() -> None:
    quiet = _span(_counted(0, 0), _counted(40, 40))
    stopped = _span(_counted(40, 40), _counted(40, 80))
    assert not _worse(FORWARDING, {}, {}, _document(), rates_before=quiet, rates_now=stopped)
    assert not _worse(FORWARDING, {}, {}, _document(), rates_now=stopped)


REASON = "no access list rule matched packets received on wan0"


@pytest.mark.parametrize(
    ("before_pps", "now_pps", "is_worse"),
    [(0, 6, True), (0, 4, False), (10, 25, False), (10, 31, True), (1000, 900, False)],
)
def test_drops_of_a_reason_rise(before_pps: int, now_pps: int, is_worse: bool) -> None:
    before = _span({REASON: 0}, {REASON: before_pps * 10})
    now = _span({REASON: before_pps * 10}, {REASON: (before_pps + now_pps) * 10})
    found = _worse(DROPS, before.later, now.later, _document(), rates_before=before, rates_now=now)
    assert bool(found) == is_worse
    assert all(one.words == ("on wan0",) and not one.asked_for for one in found)


def test_a_counter_that_is_new_or_began_anew_counts_from_zero() -> None:
    now = _span({}, {REASON: 100})
    assert _worse(DROPS, {}, now.later, _document(), rates_now=now)
    again = _span({REASON: 5000}, {REASON: 100})
    assert again.per_s(REASON) == 10


def test_what_was_counted_before_and_at_no_known_rate_is_not_judged() -> None:
    now = _span({REASON: 100}, {REASON: 200})
    assert not _worse(DROPS, {REASON: 100}, now.later, _document(), rates_now=now)


# Destinations and pings.

(DESTINATIONS,) = static.MEASURES
ROUTE = {"198.51.100.0/24": {"next_hops": [{"address": "192.0.2.1"}]}}


def _goes(how: str) -> Json:
    return {"198.51.100.0/24": {"asked": "198.51.100.1", "goes": how}}


@pytest.mark.parametrize(("how", "is_worse"), [("on", 0), ("unknown", 0), ("dropped", 1), ("nowhere", 1)])
def test_a_destination_is_dropped_or_has_no_route(how: str, is_worse: int) -> None:
    found = _worse(DESTINATIONS, _goes("on"), _goes(how), _document(static=ROUTE))
    assert len(found) == is_worse
    assert all(not one.asked_for for one in found)


def test_a_route_that_becomes_a_blackhole_was_not_removed() -> None:
    after = _document(static={"198.51.100.0/24": {"blackhole": True}})
    (worse,) = _worse(DESTINATIONS, _goes("on"), _goes("dropped"), after)
    assert not worse.asked_for


def test_the_destination_of_a_route_that_was_removed_was_asked_for() -> None:
    (worse,) = _worse(DESTINATIONS, _goes("on"), _goes("nowhere"), _document())
    assert worse.asked_for
    assert _worse(DESTINATIONS, _goes("dropped"), _goes("nowhere"), _document(static=ROUTE)) == []


def _ping(ms: float | None) -> Json:
    return {"192.0.2.1": {"what": "BGP neighbor 192.0.2.1", "path": "/routing/bgp", "ms": ms}}


@pytest.mark.parametrize(
    ("before_ms", "now_ms", "is_worse"),
    [(1.0, 1.2, 0), (1.0, None, 1), (None, None, 0), (1.0, 52.0, 1), (40.0, 95.0, 0), (1.0, 40.0, 0)],
)
def test_a_neighbor_that_answered_does_not_or_much_later(
    before_ms: float | None, now_ms: float | None, is_worse: int
) -> None:
    found = _worse(PINGS, _ping(before_ms), _ping(now_ms), _bgp())
    assert len(found) == is_worse
    assert all(not one.asked_for for one in found)


def test_a_neighbor_the_document_no_longer_names_was_asked_for() -> None:
    (worse,) = _worse(PINGS, _ping(1.0), _ping(None), _document())
    assert worse.asked_for


def test_a_next_hop_that_new_ones_come_before_is_named_all_the_same() -> None:
    def through(*addresses: str) -> RouterConfig:
        hops = {f"198.51.{at}.0/24": {"next_hops": [{"address": one}]} for at, one in enumerate(addresses)}
        return _document(static=hops)

    known = [f"10.0.0.{number}" for number in range(1, MOST + 1)]
    before = {one: {"what": f"next hop {one}", "path": "/routing/static", "ms": 1.0} for one in known}
    now = {one: {**row, "ms": None if one == known[-1] else 1.0} for one, row in before.items()}
    (worse,) = _worse(PINGS, before, now, through("10.0.1.1", *known))
    assert (worse.object, worse.asked_for) == (known[-1], False)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (REASON, ("on wan0",)),
        ("acl-plugin-in-ip6-fa: ACL deny packets", ("IPv6 packets",)),
        ("no route (IPv4)", ("IPv4 packets",)),
        ("wan0: drops of packets received", ("on wan0",)),
    ],
)
def test_drops_are_those_a_finding_foretold_by_interface_or_family(
    reason: str, words: tuple[str, ...]
) -> None:
    now = _span({}, {reason: 100})
    (worse,) = _worse(DROPS, {}, now.later, _document(), rates_now=now)
    assert worse.words == words
