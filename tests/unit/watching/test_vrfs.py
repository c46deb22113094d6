"""Measures of VRFs: those of the default one, with the VRF in the words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from appliance.config.document import RouterConfig
from appliance.config.load import parse_document
from appliance.features.bfd import watch as bfd
from appliance.features.vrf.watch import MEASURES
from appliance.watching import probing
from appliance.watching.measure import Asked, Comparison
from appliance.watching.pings import Target

BGP = {"asn": 65000, "neighbors": {"192.0.2.1": {"remote_asn": 65001, "ipv4_unicast": {}}}}
SESSIONS, _, DESTINATIONS = MEASURES


def _document(**routing: Any) -> RouterConfig:
    link = {"type": "ethernet", "match": {"device": "a"}, "addresses": ["192.0.2.2/30"], "vrf": "blue"}
    return parse_document({"interfaces": {"wan0": link}, "vrfs": {"blue": {"routing": routing}, "red": {}}})


class _Router:
    """Two VRFs; records which one is queried."""

    def __init__(self, config: RouterConfig) -> None:
        self.engine = SimpleNamespace(running_config=config)
        self.routing = self
        self.dataplane = self
        self.asked: list[str] = []

    def in_vrf(self, vrf: str) -> _Router:
        self.asked.append(vrf)
        return self

    def ask(self, _question: Any) -> Any:
        peer = {"state": "Established", "pfxRcd": 5}
        return {"ipv4Unicast": {"peers": {"192.0.2.1": peer}}}

    def vrf_table(self, vrf: str | None) -> str | None:
        return vrf

    def fib(self, destinations: tuple[str, ...], vrf: str | None) -> list[None]:
        self.asked.append(f"fib of {vrf}")
        return [None] * len(destinations)


def test_each_vrf_that_has_sessions_is_read() -> None:
    config = _document(bgp=BGP)
    router: Any = _Router(config)
    reading = SESSIONS.reads(Asked(router, config))
    assert router.asked == ["blue"]
    assert SESSIONS.shows(reading) == "blue: 1 of 1 established, 5 prefixes"
    assert SESSIONS.concerns(config)
    assert not SESSIONS.concerns(_document())


def test_a_session_that_is_down_is_worse_and_says_in_which_vrf() -> None:
    before = {"blue": {"192.0.2.1": {"state": "Established", "prefixes": {"ipv4_unicast": 5}}}}
    down = {"blue": {"192.0.2.1": {"state": "Active", "prefixes": {}}}}
    (worse,) = SESSIONS.compares(Comparison(before, down, _document(bgp=BGP)))
    assert (worse.object, worse.path) == (
        "192.0.2.1 in VRF blue",
        "/vrfs/blue/routing/bgp/neighbors/192.0.2.1",
    )
    assert worse.text == "VRF blue: The BGP session with 192.0.2.1 is down."
    assert not worse.asked_for
    assert list(SESSIONS.compares(Comparison(before, before, _document(bgp=BGP)))) == []


def test_a_session_goes_with_its_vrf_as_the_commit_asked() -> None:
    before = {"blue": {"192.0.2.1": {"state": "Established", "prefixes": {"ipv4_unicast": 5}}}}
    (worse,) = SESSIONS.compares(Comparison(before, {}, parse_document({})))
    assert worse.asked_for


def test_destinations_are_looked_up_in_the_table_of_their_vrf() -> None:
    config = _document(static={"198.51.100.0/24": {"next_hops": [{"address": "192.0.2.1"}]}})
    router: Any = _Router(config)
    reading = DESTINATIONS.reads(Asked(router, config))
    assert router.asked == ["fib of blue"]
    on = {"blue": {"198.51.100.0/24": {**reading["blue"]["198.51.100.0/24"], "goes": "on"}}}
    (worse,) = DESTINATIONS.compares(Comparison(on, reading, config))
    assert worse.text == "VRF blue: There is no route to 198.51.100.1 (198.51.100.0/24)."
    assert worse.path == "/vrfs/blue/routing/static/198.51.100.0~124"


def test_neighbors_and_next_hops_are_pinged_in_the_vrf_they_are_in(monkeypatch: pytest.MonkeyPatch) -> None:
    hops = [{"address": "192.0.2.9"}, {"address": "10.0.0.9", "vrf": "default"}]
    config = _document(bgp=BGP, static={"198.51.100.0/24": {"next_hops": hops}})
    asked: list[Target] = []

    def answered(_netns: str, targets: Any, _within_s: float) -> dict[Target, float]:
        asked.extend(targets)
        return {Target("192.0.2.1", "blue"): 1.5}

    monkeypatch.setattr(probing, "ping_all", answered)
    router: Any = SimpleNamespace(netns="nowhere")
    reading = probing.PINGS.reads(Asked(router, config))
    wanted = [Target("192.0.2.1", "blue"), Target("192.0.2.9", "blue"), Target("10.0.0.9")]
    assert sorted(asked) == sorted(wanted)
    assert {name: one["ms"] for name, one in reading.items()} == {
        "192.0.2.1 in VRF blue": 1.5,
        "192.0.2.9 in VRF blue": None,
        "10.0.0.9": None,
    }
    # What was read first is asked for again, as it is kept: JSON.
    again = probing.PINGS.reads(Asked(router, config, first=reading))
    assert again == reading and sorted(asked[3:]) == sorted(wanted)
    (worse,) = probing.PINGS.compares(
        Comparison(reading, {name: {**one, "ms": None} for name, one in reading.items()}, config)
    )
    assert worse.text == "The BGP neighbor 192.0.2.1 in VRF blue does not answer pings."
    assert (worse.path, worse.asked_for) == ("/vrfs/blue/routing/bgp/neighbors/192.0.2.1", False)


# BFD, whose sessions of all VRFs are one list.

(BFD,) = bfd.MEASURES
WATCHED = {"192.0.2.0/30": {"next_hops": [{"address": "192.0.2.1", "bfd_profile": "fast"}]}}


def _up(*vrfs: str) -> dict[str, Any]:
    return {
        f"192.0.2.1 in VRF {vrf}": {"peer": "192.0.2.1", "interface": None, "vrf": vrf, "state": "up"}
        for vrf in vrfs
    }


def _both(blue: dict[str, Any], red: dict[str, Any]) -> RouterConfig:
    return parse_document(
        {
            "routing": {"bfd": {"profiles": {"fast": {}}}},
            "vrfs": {
                "blue": {"routing": {"static": blue}},
                "red": {"routing": {"static": red}},
            },
        }
    )


def test_a_bfd_session_goes_as_asked_though_another_vrf_watches_the_same_address() -> None:
    (gone,) = BFD.compares(Comparison(_up("blue", "red"), _up("red"), _both({}, WATCHED)))
    assert (gone.object, gone.asked_for) == ("192.0.2.1 in VRF blue", True)
    (lost,) = BFD.compares(Comparison(_up("blue", "red"), _up("blue"), _both({}, WATCHED)))
    assert (lost.object, lost.asked_for) == ("192.0.2.1 in VRF red", False)


def test_a_next_hop_of_another_vrf_is_watched_there() -> None:
    hop = {"address": "192.0.2.1", "vrf": "red", "bfd_profile": "fast"}
    leaks = _both({"198.51.100.0/24": {"next_hops": [hop]}}, {})
    (lost,) = BFD.compares(Comparison(_up("red"), {}, leaks))
    assert not lost.asked_for
