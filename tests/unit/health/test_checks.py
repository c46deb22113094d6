"""The checks' judgement of readings: no process, no clock."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.document import RouterConfig
from appliance.config.load import parse_document
from appliance.engine.reserve import Room
from appliance.engine.view import Seen
from appliance.features.bgp.health import down, stale
from appliance.features.interface.health import drops, links
from appliance.features.ospf.health import adjacencies
from appliance.health.check import Finding, Look
from appliance.health.checks import damaged, disk_full, drift, every_check, parts_down
from appliance.state.health import DaemonHealth, PartHealth
from appliance.state.ospf import OspfNeighborState
from frr_config.protocols.bgp.session import sessions
from tests.bgp_answers import NO_ROUTE, OVER_LIMIT, UP, WRONG_AS, FrrWithSessions


def _config(**parts: Any) -> RouterConfig:
    return parse_document({"schema_version": 1, **parts})


def _ethernet(**more: Any) -> dict[str, Any]:
    return {"type": "ethernet", "match": {"device": "nic"}, **more}


LINKS = _config(
    interfaces={
        "wan0": _ethernet(description="uplink"),
        "wan0.7": {"type": "sub_interface", "parent": "wan0", "vlan_id": 7},
        "wan0.8": {"type": "sub_interface", "parent": "wan0", "vlan_id": 8, "enabled": False},
        "spare0": _ethernet(enabled=False),
        "lo1": {"type": "loopback"},
    }
)
ALL_UP = {"wan0": True, "wan0.7": True, "wan0.8": False, "spare0": False, "lo1": True}


def test_every_feature_declares_its_checks_and_they_have_names_of_their_own() -> None:
    names = [check.name for check in every_check()]
    assert len(set(names)) == len(names)
    assert {"links", "drops", "BGP sessions", "OSPF adjacencies", "parts of the router", "drift"} <= set(
        names
    )


def test_an_enabled_interface_without_link_is_an_alarm_and_a_disabled_one_is_not() -> None:
    assert list(links(Look(ALL_UP, LINKS))) == []
    (one,) = links(Look({**ALL_UP, "wan0": False, "wan0.7": False}, LINKS))
    assert (one.kind, one.object, one.severity, one.pointer) == (
        "link_down", "wan0", "major", "/interfaces/wan0",
    )  # fmt: skip
    assert one.summary == "Interface wan0 (uplink) is enabled and its link is down"
    assert one.evidence == {"enabled": "yes", "link": "down", "also down": "interfaces on it: 1"}


def test_a_vlan_that_alone_is_down_and_an_interface_that_is_gone() -> None:
    (one,) = links(Look({**ALL_UP, "wan0.7": False}, LINKS))
    assert (one.kind, one.object) == ("link_down", "wan0.7")
    (gone,) = links(Look({"lo1": True}, LINKS))
    assert (gone.kind, gone.object, gone.severity) == ("interface_missing", "wan0", "critical")
    assert gone.patience_s > 0


def test_links_of_a_thousand_vlans_cost_one_pass() -> None:
    vlans = {f"e0.{at}": {"type": "sub_interface", "parent": "e0", "vlan_id": at} for at in range(1, 1001)}
    config = _config(interfaces={"e0": _ethernet(), **vlans})
    (one,) = links(Look(dict.fromkeys(config.interfaces, False), config))
    assert one.evidence["also down"] == "interfaces on it: 1000"
    assert len(list(links(Look({**dict.fromkeys(vlans, False), "e0": True}, config)))) == 1000


@pytest.mark.parametrize(
    ("grown", "expected"),
    [
        ({"rx_drops": 40}, []),  # 4 a second
        ({"rx_drops": 200, "rx_packets": 1_000_000}, []),  # a share of 0.02 %
        ({"rx_drops": 200, "rx_packets": 1000}, ["received packets"]),
        ({"tx_errors": 20_000, "tx_packets": 100_000_000}, ["packets that could not be sent"]),
        ({"rx_drops": -5}, []),  # it restarted
    ],
)
def test_drops_are_judged_by_rate_and_share(grown: dict[str, int], expected: list[str]) -> None:
    before = dict.fromkeys(("rx_packets", "tx_packets", "rx_drops", "tx_drops", "tx_errors"), 10000)
    now = {name: value + grown.get(name, 0) for name, value in before.items()}
    found = list(drops(Look({"wan0": now}, LINKS, {"wan0": before}, 10.0)))
    assert [one.summary.partition("(")[2].rstrip(")") for one in found] == expected


def test_drops_need_two_readings_and_ease_off_slowly() -> None:
    def rate(pps: int) -> Look[Any]:
        now = {"rx_drops": pps * 10, "rx_packets": 0}
        key = ("drops_rising", "wan0")
        return Look({"wan0": now}, LINKS, {"wan0": {"rx_drops": 0, "rx_packets": 0}}, 10.0, {key: 5.0})

    assert list(drops(Look({"wan0": {"rx_drops": 9999}}, LINKS))) == []
    assert [one.object for one in drops(rate(6))] == ["wan0"]
    assert list(drops(rate(4))) == []


BGP = _config(
    routing={
        "bgp": {
            "asn": 65000,
            "neighbors": {
                "192.0.2.1": {"remote_asn": 65001, "description": "transit"},
                "192.0.2.5": {"remote_asn": 65002},
                "192.0.2.9": {"remote_asn": 65003, "enabled": False},
            },
        }
    }
)


def test_routes_that_outlive_bgp_are_an_alarm_once_zebra_had_the_time() -> None:
    assert list(stale(Look({}, _config()))) == []
    (one,) = stale(Look({"ipv4": 27_740}, _config()))
    assert (one.kind, one.object, one.patience_s) == ("stale_routes", "bgp", 60.0)
    assert "27,740 IPv4 BGP routes" in one.summary
    (check,) = (check for check in every_check() if check.name == "routes left by BGP")
    assert check.concerns(_config()) and not check.concerns(BGP)


def _bgp(**peers: Any) -> list[Finding]:
    seen = sessions(FrrWithSessions(**{"192.0.2.5": UP, **peers}))
    return list(down(Look(seen, BGP)))


def test_sessions_that_are_up_are_no_alarm_and_cost_one_question() -> None:
    frr = FrrWithSessions(**{"192.0.2.1": UP, "192.0.2.5": UP})
    assert list(down(Look(sessions(frr), BGP))) == []
    assert frr.asked == ["show bgp summary json"]


def test_a_session_over_its_limit_says_so_in_words_and_what_to_do() -> None:
    (one,) = _bgp(**{"192.0.2.1": OVER_LIMIT})
    assert (one.kind, one.object, one.severity) == ("bgp_down", "192.0.2.1", "major")
    assert one.summary.startswith("BGP neighbor 192.0.2.1 (transit) is down: closed on this router")
    assert "Idle (PfxCt)" in one.evidence["reason"]
    assert "Cease/Maximum Number of Prefixes Reached" in one.evidence["reason"]
    assert "clear the session" in one.advice
    assert (one.for_s, one.patience_s, one.evidence["been up"]) == (4.0, 0.0, "once")
    assert one.pointer == "/routing/bgp/neighbors/192.0.2.1"


@pytest.mark.parametrize(
    ("peer", "reason"), [(NO_ROUTE, "no route to the neighbor"), (WRONG_AS, "the AS number of the neighbor")]
)
def test_a_session_that_never_was_up_has_time_to_come_up(peer: dict[str, Any], reason: str) -> None:
    (one,) = _bgp(**{"192.0.2.1": peer})
    assert reason in one.summary
    assert one.patience_s > 0 and one.for_s is None and one.evidence["been up"] == "never"


def test_a_neighbor_that_frr_does_not_know() -> None:
    (one,) = _bgp()
    assert one.object == "192.0.2.1" and "does not know" in one.summary and one.patience_s > 0


OSPF = _config(
    interfaces={"core0": _ethernet(), "core1": _ethernet(), "off0": _ethernet(enabled=False)},
    routing={
        "ospf": {
            "interfaces": {
                "core0": {"area": "0.0.0.0"},
                "core1": {"area": "0.0.0.0", "network_type": "point-to-point"},
                "off0": {"area": "0.0.0.0"},
            }
        }
    },
)


def _neighbor(state: str, interface: str = "core0", router: str = "10.0.0.9", for_s: float = 300) -> Any:
    return {
        f"{router} on {interface}": OspfNeighborState(
            router_id=router, interface=interface, state=state, full=state.startswith("Full"),
            uptime_ms=for_s * 1000,
        )
    }  # fmt: skip


def _ospf(now: Any, before: Any = None, standing: Any = None) -> list[tuple[str, str]]:
    return [(one.kind, one.object) for one in adjacencies(Look(now, OSPF, before, 5.0, standing or {}))]


LOST = [("ospf_down", "10.0.0.9 on core0")]


def test_an_adjacency_that_was_full_and_is_gone_stays_an_alarm_until_it_is_full() -> None:
    full = _neighbor("Full/DR")
    none: dict[str, OspfNeighborState] = {}
    assert _ospf(full) == [] and _ospf(none) == []
    assert _ospf(none, full) == LOST
    assert _ospf(none, none, {LOST[0]: 60.0}) == LOST
    assert _ospf(_neighbor("Init/DROther"), none, {LOST[0]: 60.0}) == LOST
    assert _ospf(full, none, {LOST[0]: 60.0}) == []
    assert _ospf(none, none, {LOST[0]: 90_000.0}) == [], "after a day it was taken away"


def test_what_is_below_full_on_purpose_or_for_a_moment_is_no_alarm() -> None:
    assert _ospf(_neighbor("2-Way/DROther")) == []
    assert _ospf(_neighbor("2-Way/DROther"), _neighbor("Full/DR")) == []
    assert _ospf(_neighbor("ExStart/DR", for_s=20)) == []
    assert _ospf(_neighbor("Init/DROther", "off0")) == []
    assert _ospf(_neighbor("ExStart/DR")) == [("ospf_stuck", "10.0.0.9 on core0")]
    assert _ospf(_neighbor("2-Way/DROther", "core1")) == [("ospf_stuck", "10.0.0.9 on core1")]


def test_another_router_at_the_other_end_of_a_link_takes_the_place_of_the_first() -> None:
    gone, other = _neighbor("Full/-", "core1"), _neighbor("Full/-", "core1", "10.0.0.10")
    assert _ospf(other, gone) == []
    assert _ospf({}, gone) == [("ospf_down", "10.0.0.9 on core1")]


def test_parts_that_are_down_drift_damage_and_a_full_disk() -> None:
    daemons = {"bgpd": DaemonHealth(running=False), "zebra": DaemonHealth(running=True)}
    part = PartHealth(state="down", detail="not running: bgpd", label="FRR", daemons=daemons)
    (one,) = parts_down(Look({"frr": part, "host": PartHealth(state="up")}, LINKS))
    assert (one.severity, one.object, one.evidence["not running"]) == ("critical", "frr", "bgpd")
    (one,) = drift(Look(Seen(drift=("set a", "set b")), LINKS))
    assert one.summary == "The router differs from its document in 2 steps" and one.severity == "minor"
    assert list(drift(Look(Seen(), LINKS))) == []
    (one,) = damaged(Look(("revision 3 is damaged",), LINKS))
    assert one.kind == "damaged_history"
    assert list(disk_full(Look(Room(2 << 20, 1 << 20), LINKS))) == []
    assert [one.severity for one in disk_full(Look(Room(1 << 19, 1 << 20), LINKS))] == ["critical"]


def test_a_router_without_a_feeder_does_not_claim_to_have_checked_one() -> None:
    names = [check.name for check in every_check(feeds=False)]
    assert "FIB feeder" not in names and "FIB feeder" in [check.name for check in every_check()]
