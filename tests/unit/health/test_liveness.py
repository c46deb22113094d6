"""Static routes and other objects that do nothing: how they are read, judged and told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from appliance.config.document import RouterConfig
from appliance.config.load import parse_document
from appliance.dataplane.route_answer import Entry, NextHop, RouteAnswer
from appliance.features.static.liveness import state_of
from appliance.health.check import Finding, Look
from appliance.liveness.declaration import every_liveness, judged
from appliance.liveness.health import inactive
from appliance.liveness.keeper import Keeper
from appliance.liveness.rota import PORTION, Rota
from appliance.liveness.watch import measures
from appliance.routing.rows import RibRow, rib_rows
from appliance.state.object_state import ObjectState
from appliance.state.objects import OBJECTS, ObjectsQuery
from appliance.watching.measure import Comparison
from frr_config.protocols.static.model import NextHop as Hop
from frr_config.protocols.static.model import StaticRoute

if TYPE_CHECKING:
    from appliance.agent.router import Router

FAR, GOOD = "172.16.9.9", "10.9.0.2"


def _rows(*routes: dict[str, Any], prefix: str = "20.0.0.0/24") -> list[RibRow]:
    """As zebra 8.4 answers for one prefix."""
    return list(rib_rows([{"prefix": prefix, "routes": [{"prefix": prefix, **one} for one in routes]}]))


def _static(*hops: dict[str, Any], **more: Any) -> dict[str, Any]:
    used = {"protocol": "static", "distance": 1, "selected": True, "installed": True}
    return {**used, **more, "nexthops": [{"active": True, **one} for one in hops]}


def _state(route: StaticRoute, *routes: dict[str, Any]) -> ObjectState:
    return state_of("", "20.0.0.0/24", route, _rows(*routes))


def _via(*addresses: str, **more: Any) -> StaticRoute:
    return StaticRoute(next_hops=tuple(Hop(address=one, **more) for one in addresses))


ON_D0 = {"ip": GOOD, "interfaceName": "d0", "fib": True}


def test_a_route_is_as_good_as_its_next_hops() -> None:
    works = _state(_via(GOOD), _static(ON_D0))
    assert (works.state, works.why, works.pointer) == ("working", "", "/routing/static/20.0.0.0~124")
    half = _state(_via(GOOD, FAR), _static(ON_D0))
    assert (half.state, half.why) == ("partly", f"no route leads to {FAR}")
    assert [(one.name, one.state) for one in half.parts] == [(GOOD, "working"), (FAR, "inactive")]
    none = _state(_via(FAR))
    assert (none.state, none.why) == ("inactive", f"no route leads to {FAR}")


def test_selected_is_not_enough() -> None:
    refused = _state(_via("10.9.0.255"), _static({"ip": "10.9.0.255"}, installed=None))
    assert (refused.state, refused.why) == ("inactive", "the kernel does not take the route by 10.9.0.255")


def test_an_interface_that_is_down() -> None:
    hop = {"ip": "10.9.4.2", "interfaceName": "d4", "active": False}
    down = _state(_via("10.9.4.2", interface="d4"), _static(hop, selected=None, installed=None))
    assert (down.state, down.why) == ("inactive", "d4 is down or has no link")
    alone = StaticRoute(next_hops=(Hop(interface="d4"),))
    bare = {"interfaceName": "d4", "directlyConnected": True, "active": False}
    assert _state(alone, _static(bare, selected=None)).why == "d4 is down or has no link"


def test_a_less_preferred_route_stands_by() -> None:
    connected = {"protocol": "connected", "distance": 0, "selected": True, "nexthops": []}
    hidden = _state(_via(GOOD), _static(ON_D0, selected=None), connected)
    assert hidden.state == "standby"
    assert hidden.why == "the connected route of the same prefix is preferred, of distance 0"
    floating = StaticRoute(next_hops=(Hop(address=GOOD), Hop(address="10.9.1.2", distance=20)))
    second = _static({"ip": "10.9.1.2", "interfaceName": "d1"}, distance=20, selected=None)
    both = _state(floating, _static(ON_D0), second)
    assert both.state == "working" and [one.state for one in both.parts] == ["working", "standby"]


def test_a_route_that_leads_into_a_blackhole_drops() -> None:
    hops = (
        {"ip": "20.0.13.9", "recursive": True},
        {"blackhole": True, "unreachable": True, "resolver": True},
    )
    led = _state(_via("20.0.13.9"), _static(*hops))
    assert (led.state, led.why) == ("inactive", "the route to 20.0.13.9 drops packets")
    hole = StaticRoute(blackhole=True)
    assert _state(hole, _static({"blackhole": True, "unreachable": True})).state == "working"
    assert _state(hole).state == "inactive"


def test_what_watches_a_next_hop_is_named() -> None:
    watched = _via(FAR, bfd_profile="fast")
    assert _state(watched).why == f"no route leads to {FAR}, or {FAR} does not answer (BFD profile fast)"


class _Frr:
    """zebra, which has every route but those by ``dead``."""

    def __init__(self, routes: dict[str, StaticRoute]) -> None:
        self.routes, self.dead, self.asked = routes, {FAR}, 0

    def in_vrf(self, _vrf: str) -> _Frr:
        return self

    def rib_entry(self, prefix: str) -> Sequence[RibRow]:
        self.asked += 1
        hops = [hop.address for hop in self.routes[prefix].next_hops if hop.address not in self.dead]
        return _rows(_static(*({"ip": one} for one in hops)), prefix=prefix) if hops else []


def _router(config: RouterConfig, fib: dict[str, RouteAnswer] | None = None) -> Any:
    frr = _Frr(dict(config.routing.static))
    known = fib or {}
    plane = SimpleNamespace(fib=lambda addresses, vrf: [known.get(one) for one in addresses])
    router = SimpleNamespace(
        engine=SimpleNamespace(running_config=config), routing=frr, dataplane=plane, vrf_table=lambda vrf: vrf
    )
    router.now_s = 0.0
    router.liveness = Keeper(cast("Router", router), clock=lambda: float(router.now_s))
    return router


def _many(count: int) -> RouterConfig:
    hops = [f"10.9.0.{2 + at}" for at in range(9)] + [FAR]
    routes = {
        f"20.{at >> 8}.{at & 255}.0/24": {"next_hops": [{"address": hops[at % 10]}]} for at in range(count)
    }
    return parse_document({"routing": {"static": routes}})


def test_ten_thousand_routes_are_asked_for_in_portions_and_a_next_hop_that_goes_is_seen_at_once() -> None:
    router = _router(_many(10_000))
    states: tuple[ObjectState, ...] = ()
    for look in range(51):
        router.now_s += 5
        states = router.liveness.of("static_route")
        assert router.routing.asked == (look + 1) * PORTION
    assert sum(one.state == "unknown" for one in states) == 0
    assert sum(one.state == "inactive" for one in states) == 1000
    router.routing.dead.add("10.9.0.5")
    for looks, least in ((1, 1), (2, PORTION), (6, 1000)):
        while router.now_s < (51 + looks) * 5:
            router.now_s += 5
            states = router.liveness.of("static_route")
        gone = sum(one.why == "no route leads to 10.9.0.5" for one in states)
        assert gone >= least, "the other routes by the next hop come next"


def test_who_asks_within_a_second_shares_a_reading_and_a_commit_begins_another() -> None:
    router = _router(_many(30))
    router.liveness.of("static_route")
    router.liveness.of("static_route")
    assert router.routing.asked == 30
    router.engine.running_config = config = _many(40)
    router.routing.routes = dict(config.routing.static)
    assert len(router.liveness.of("static_route")) == 40
    assert router.routing.asked == 70


def test_a_changed_route_is_not_told_by_what_was_read_before() -> None:
    router = _router(
        parse_document({"routing": {"static": {"20.0.0.0/24": {"next_hops": [{"address": GOOD}]}}}})
    )
    assert [one.state for one in router.liveness.of("static_route")] == ["working"]
    changed = {"routing": {"static": {"20.0.0.0/24": {"next_hops": [{"address": FAR}]}}}}
    router.engine.running_config = config = parse_document(changed)
    router.routing.routes = dict(config.routing.static)
    assert [one.state for one in router.liveness.of("static_route")] == ["inactive"]


def test_a_rota_forgets_what_is_gone_and_asks_everything_in_turn() -> None:
    rota: Rota[int, int] = Rota(portion=3)
    asked: list[int] = []

    def ask(keys: Sequence[int]) -> list[int]:
        asked.extend(keys)
        return [0] * len(keys)

    groups = {key: key for key in range(7)}
    known: Mapping[int, int] = {}
    for _ in range(5):
        known = rota.look(groups, ask)
    assert set(asked[:9]) == set(range(7)) and set(known) == set(range(7))
    assert set(rota.look({1: 1}, ask)) == {1}


def _alarms(objects: Sequence[ObjectState], kind: str = "static_route") -> list[Finding]:
    liveness = next(one for one in every_liveness() if one.kind == kind)
    return list(inactive(liveness, Look(tuple(objects), RouterConfig())))


def test_one_alarm_for_each_cause() -> None:
    router = _router(_many(100))
    states = router.liveness.of("static_route")
    (alarm,) = _alarms(states)
    assert (alarm.kind, alarm.object, alarm.severity) == ("static_route_inactive", FAR, "major")
    assert alarm.summary == f"Static route 20.0.9.0/24 and 9 more do nothing: no route leads to {FAR}"
    assert alarm.evidence["more"] == "5" and alarm.pointer == "/routing/static/20.0.9.0~124"
    half = _state(_via(GOOD, FAR), _static(ON_D0))
    (partly,) = _alarms([half])
    assert (partly.kind, partly.severity) == ("static_route_partly", "warning")
    assert _alarms([_state(_via(GOOD), _static(ON_D0))]) == []


DOCUMENT: dict[str, Any] = {
    "interfaces": {
        "lan0": {"type": "ethernet", "match": {"device": "l"}, "addresses": ["10.0.0.1/24"]},
        "wan0": {"type": "ethernet", "match": {"device": "w"}, "addresses": ["192.0.2.2/24"]},
        "gre0": {"type": "gre", "source": "wan0", "destination": FAR, "addresses": ["10.255.0.1/30"]},
    },
    "dhcp_relays": {"campus": {"server": FAR, "source_address": "192.0.2.2"}},
    "nat": {
        "inside": ["lan0"],
        "outside": ["wan0"],
        "masquerade": ["wan0"],
        "static": {"host": {"outside_address": "198.51.100.9", "inside_address": "10.0.0.9"}},
        "pools": {"more": {"addresses": ["192.0.2.8-192.0.2.15"]}},
        "port_forwards": {
            "web": {"outside_interface": "wan0", "outside_port": 80, "inside_address": "10.0.0.8"},
            "far": {"outside_interface": "wan0", "outside_port": 81, "inside_address": FAR},
        },
    },
}
LAN = Entry("10.0.0.0/24", "unicast", (NextHop(None, "lan0", 1),))
WAN = Entry("0.0.0.0/0", "unicast", (NextHop("192.0.2.1", "wan0", 1),))


def _told(fib: dict[str, RouteAnswer], document: dict[str, Any] = DOCUMENT) -> dict[str, tuple[str, str]]:
    router = _router(parse_document(document), fib)
    return {one.name: (one.state, one.why) for one in router.liveness.everything()}


def test_objects_that_need_a_route() -> None:
    found = _told({"10.0.0.8": LAN, "10.0.0.9": LAN})
    for name in ("campus", "gre0", "far"):
        assert found[name] == ("inactive", f"no route leads to {FAR}")
    assert found["web"] == ("working", "")
    assert found["host"][0] == "unknown" and "no network of an outside interface" in found["host"][1]
    assert found["more"][0] == "inactive" and "every outside interface is in masquerade" in found["more"][1]
    led = _told({"10.0.0.8": LAN, "10.0.0.9": LAN, FAR: WAN})
    assert led["campus"] == led["gre0"] == ("working", "")
    assert led["far"] == (
        "unknown",
        f"{FAR}: its route leads out on wan0, which is not an inside interface",
    )


def test_a_tunnel_whose_far_end_is_behind_itself_and_packets_that_a_route_drops() -> None:
    through = _told({FAR: Entry("172.16.0.0/16", "unicast", (NextHop("10.255.0.2", "gre0", 1),))})
    assert through["gre0"] == ("inactive", f"the route to {FAR} leads into gre0 itself")
    dropped = _told({FAR: Entry(None, "blackhole")})
    assert dropped["campus"] == ("inactive", f"packets to {FAR} are dropped by a route")


def test_what_is_disabled_is_said_so() -> None:
    off = {**DOCUMENT["interfaces"], "wan0": {**DOCUMENT["interfaces"]["wan0"], "enabled": False}}
    found = _told({FAR: LAN, "10.0.0.8": LAN, "10.0.0.9": LAN}, {**DOCUMENT, "interfaces": off})
    assert found["gre0"] == ("inactive", "wan0, where it begins, is down")
    assert found["web"] == ("inactive", "no outside interface is enabled")


def test_the_state_lists_what_does_not_work_and_everything_on_request() -> None:
    router = _router(parse_document(DOCUMENT), {"10.0.0.8": LAN, "10.0.0.9": LAN})
    listed = OBJECTS.read(router, ObjectsQuery())
    assert {one.name for one in listed.objects} == {"campus", "gre0", "far", "host", "more"}
    assert listed.counts == {"inactive": 4, "unknown": 1, "working": 1}
    assert listed.about == "4 inactive, 1 not known, 1 working."
    forwards = OBJECTS.read(router, ObjectsQuery(under="/nat/port_forwards"))
    assert [one.name for one in forwards.objects] == ["web", "far"]


def test_the_watch_tells_an_object_that_worked_before() -> None:
    relays = next(one for one in measures() if one.name == "DHCP relays")
    config = parse_document(DOCUMENT)
    before = {"/dhcp_relays/campus": {"what": "DHCP relay campus", "state": "working", "why": ""}}
    now = {"/dhcp_relays/campus": {**before["/dhcp_relays/campus"], "state": "inactive", "why": "no way"}}
    (worse,) = relays.compares(Comparison(before, now, config))
    assert (worse.text, worse.asked_for) == ("DHCP relay campus does nothing: no way.", False)
    assert list(relays.compares(Comparison(now, now, config))) == []
    assert relays.shows(now) == "0 of 1 working"


def test_nothing_is_judged_of_an_address_that_was_not_looked_up() -> None:
    things = next(one.things for one in every_liveness() if one.kind == "dhcp_relay")
    assert things is not None
    (state,) = judged(things(parse_document(DOCUMENT)), {})
    assert (state.state, state.why) == ("unknown", f"{FAR} was not looked up yet")
