"""BGP routes searched on the whole router: the index beside bgpd, and what happens when either ends.

::

    [router] wan0 ── BGP neighbor, 1,000 IPv4 and 50 IPv6 prefixes
"""

from __future__ import annotations

import copy
import os
import signal
from typing import Any

import pytest

from appliance.cli.operational import SHOWS
from appliance.errors import MillraceError
from appliance.state.bgp_search import BGP_INDEX, BGP_SEARCH, BgpSearch
from appliance.state.commit_options import CommitOptions
from lab import addressing as at
from lab import bgp_index, frr_daemons, readiness
from tests.live_lab import LiveLab, json_of, wait_until
from tests.requirements import require_rustc

pytestmark = [pytest.mark.integration, pytest.mark.root]

NEIGHBOR = str(at.WAN.far_v4.ip)


@pytest.fixture(autouse=True)
def index_is_idle(live: LiveLab) -> None:
    """An earlier test may have searched."""
    require_rustc()
    assert bgp_index.lacking() is None
    live.supervisorctl("restart", "bgpindex")
    wait_until(lambda: _state(live) == "idle", timeout_s=30, what="an index that holds nothing")


def _state(live: LiveLab) -> str:
    try:
        return live.agent.state(BGP_INDEX).state
    except MillraceError:
        return "away"


def _search(live: LiveLab, **asked: Any) -> BgpSearch:
    """The result of a search once all routes have been read."""
    question = BGP_SEARCH.asked({"limit": 200, **asked})

    def complete() -> bool:
        try:
            return live.agent.state(BGP_SEARCH, question).complete
        except MillraceError:
            return False

    wait_until(complete, timeout_s=60, what="a whole index", instead=lambda: _state(live))
    return live.agent.state(BGP_SEARCH, question)


def _prefixes(live: LiveLab, **asked: Any) -> set[str]:
    found: set[str] = set()
    while len(found) < (page := _search(live, offset=len(found), **asked)).total:
        found |= {route.prefix for route in page.routes}
    return found


def _bgpd(live: LiveLab, words: str) -> set[str]:
    """Prefixes that bgpd itself shows of the neighbor's."""
    shown = frr_daemons.show(live.topology.namespaces.router, f"show bgp ipv4 unicast {words}")
    return {prefix for prefix, paths in shown["routes"].items() if any(_is_theirs(path) for path in paths)}


def _is_theirs(path: dict[str, Any]) -> bool:
    return bool(path.get("peerId") == NEIGHBOR)


def test_nobody_reads_before_somebody_searches(live: LiveLab) -> None:
    assert live.agent.status().drift == []
    assert json_of(live.api.get("/state/bgp/index"))["state"] == "idle"
    assert live.api.get(live.base_url + "/bgp/search", follow_redirects=True).status_code == 200
    shown = frr_daemons.vtysh(live.topology.namespaces.router, "show bmp")
    assert f"{bgp_index.BMP}" in shown and "0 connected clients" in shown
    assert _search(live).total >= len(at.WAN_PREFIXES_V4)
    shown = frr_daemons.vtysh(live.topology.namespaces.router, "show bmp")
    assert "1 connected clients" in shown


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"asn": 64507}, "regexp _64507_"),
        ({"origin_asn": 64507}, "regexp _64507$"),
        ({"path": "64507 64584"}, "regexp _64507_64584_"),
        ({"community": f"{at.WAN_AS}:200"}, f"community {at.WAN_AS}:200"),
        ({"prefix": "198.18.64.0/20"}, "198.18.64.0/20 longer-prefixes"),
        ({"neighbor": NEIGHBOR}, f"regexp ^{at.WAN_AS}_"),
    ],
)
def test_the_index_finds_what_bgpd_finds(live: LiveLab, asked: dict[str, Any], words: str) -> None:
    expected = _bgpd(live, words)
    assert expected
    assert _prefixes(live, **asked) == expected


def test_all_ways_lead_to_the_same_routes(live: LiveLab) -> None:
    found = _search(live, asn=64507, community=f"{at.WAN_AS}:400")
    assert found.total and all(route.neighbor == NEIGHBOR for route in found.routes)
    over_rest = json_of(live.api.get(f"/state/bgp/search?asn=64507&community={at.WAN_AS}:400"))
    assert [route["prefix"] for route in over_rest["routes"]] == [route.prefix for route in found.routes]
    shown = SHOWS["bgp"](live.agent, ["routes", "as", "64507", "community", f"{at.WAN_AS}:400"]).shown
    assert all(route.prefix in shown for route in found.routes)
    assert f"Searched all {found.read:,} routes of both families." in shown
    of_ipv6 = _search(live, family="ipv6", neighbor=str(at.WAN.far_v6.ip))
    assert of_ipv6.total == len(at.WAN_PREFIXES_V6)


def test_a_session_that_goes_takes_its_routes_along(live: LiveLab) -> None:
    before = _search(live, neighbor=NEIGHBOR).total
    document = copy.deepcopy(live.agent.config().document)
    closed = copy.deepcopy(document)
    closed["routing"]["bgp"]["neighbors"][NEIGHBOR]["enabled"] = False
    live.agent.commit(closed, CommitOptions(author="test"))
    try:
        wait_until(
            lambda: _search(live, neighbor=NEIGHBOR).total == 0, timeout_s=60, what="a search without them"
        )
    finally:
        live.agent.commit(document, CommitOptions(author="test"))
    wait_until(
        lambda: _search(live, neighbor=NEIGHBOR).total == before, timeout_s=120, what="all of them again"
    )


def test_bgp_goes_and_comes_under_a_reading_index(live: LiveLab) -> None:
    """bgpd would crash if the listener were removed together with its instance."""
    _search(live)
    pid = live.supervisorctl("pid", "bgpd")
    document = copy.deepcopy(live.agent.config().document)
    without = copy.deepcopy(document)
    without["routing"]["bgp"] = None
    live.agent.commit(without, CommitOptions(author="test"))
    try:
        answer = json_of(live.api.get("/state/bgp/search"))
        assert answer["state"] == "absent" and "there is nothing to search" in answer["note"]
        assert live.agent.status().drift == []
    finally:
        live.agent.commit(document, CommitOptions(author="test"))
    readiness.wait(readiness.routing_checks(live.topology.namespaces), 120, lambda _: None)
    assert _search(live, neighbor=NEIGHBOR).total == len(at.WAN_PREFIXES_V4)
    assert live.supervisorctl("pid", "bgpd") == pid
    assert live.agent.status().drift == []


def test_an_index_that_dies_is_named_and_comes_back(live: LiveLab) -> None:
    _search(live)
    live.supervisorctl("stop", "bgpindex")
    refused = live.api.get("/state/bgp/search?asn=64507")
    assert refused.status_code == 503 and "BGP index: it does not answer" in refused.json()["detail"]
    document = copy.deepcopy(live.agent.config().document)
    assert live.agent.commit(document, CommitOptions(author="test", comment="nothing waits for it")).revision
    live.supervisorctl("start", "bgpindex")
    assert _search(live, asn=64507).total == len(_bgpd(live, "regexp _64507_"))


def test_a_bgpd_that_dies_is_read_anew(live: LiveLab) -> None:
    _search(live)
    os.kill(int(live.supervisorctl("pid", "bgpd")), signal.SIGKILL)
    wait_until(lambda: _state(live) == "connecting", timeout_s=60, what="an index without bgpd")
    readiness.wait(readiness.routing_checks(live.topology.namespaces), 180, lambda _: None)
    wait_until(lambda: live.agent.status().drift == [], timeout_s=60, what="a router as it was committed")
    wait_until(
        lambda: _search(live, neighbor=NEIGHBOR).total == len(at.WAN_PREFIXES_V4),
        timeout_s=120,
        what="all routes again",
    )
