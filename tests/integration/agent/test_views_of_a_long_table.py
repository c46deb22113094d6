"""Views of a table too long for lists: FRR is asked for routes and counts alone, and nobody waits for a view.

FRR, linux data plane, StateApi  d0 --- BIRD with 12,000 routes
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request

from appliance.agent.route_lists import LISTED
from appliance.agent.router import Router
from appliance.agent.state_api import StateApi
from appliance.config.document import RouterConfig
from appliance.dataplane.linux.backend import LinuxDataplane
from appliance.routing.frr import FrrBackend
from appliance.routing.wanted import WantedRouting
from frr_config import FrrClient, Routing
from tests.integration.frr.conftest import configure
from tests.integration.frr.harness import FrrHarness, frr_installed, wait_until
from tests.requirements import require_root_netns
from tests.route_feed import FAR, ROUTING, STATICS, RouteFeed, prefix
from tests.unit.agent.test_views_are_bounded import Engine

pytestmark = pytest.mark.root
ROUTES = LISTED + 2_000
_BOUNDED = re.compile(
    r"show version"
    r"|show bgp (summary|neighbors( [0-9a-f.:]+)?) json"
    r"|show bgp ipv4 unicast [0-9.]+(/\d+)? json"
    r"|show ip ospf( neighbor detail| interface)? json"
    r"|show (ip|ipv6) route (summary|[0-9a-f.:]+(/\d+)?|static|connected|kernel|ospf) json"
    r"|show ipv6 route json"
)
"""The questions whose answers are short, however long the IPv4 table is; IPv6 has only a few routes here."""


class WatchedFrr(FrrClient):
    """Records the questions to daemons, and pauses in the middle of a question when told to."""

    def __init__(self, harness: FrrHarness) -> None:
        super().__init__(harness.vty_dir, harness.config_dir)
        self.asked: list[str] = []
        self.stops = threading.Event()
        self.stopped, self.goes_on = threading.Event(), threading.Event()

    def show(self, daemon: str, command: str) -> str:
        self._ask(daemon, command)
        return super().show(daemon, command)

    def streamed(self, daemon: str, command: str) -> Iterator[str]:
        self._ask(daemon, command)
        for piece in super().streamed(daemon, command):
            self._pause()
            yield piece

    def _ask(self, daemon: str, command: str) -> None:
        self.asked.append(command)
        if daemon == "zebra":
            with self._showing[daemon]:
                self._pause()

    def _pause(self) -> None:
        if self.stops.is_set():
            self.stopped.set()
            assert self.goes_on.wait(60)


@dataclass
class Viewed:
    """A router with a long table, and its views."""

    frr: WatchedFrr
    routing: FrrBackend
    plane: LinuxDataplane
    feed: RouteFeed
    document: Routing = field(default_factory=lambda: Routing.model_validate(ROUTING))

    def views(self) -> StateApi:
        """The views, with nothing remembered."""
        engine: Any = Engine(Path("nowhere"))
        engine.running_config = RouterConfig.model_validate({"schema_version": 1, "routing": ROUTING})
        return StateApi(Router(engine, self.plane, self.routing, "nowhere"))

    def get(self, path: str, **names: str) -> dict[str, Any]:
        """The answer of one view."""
        return asyncio.run(_get(self.views(), path, names))


async def _get(views: StateApi, path: str, names: dict[str, str]) -> dict[str, Any]:
    place = path.partition("?")[0].partition("/neighbors/")
    more = "/{direction}" if "direction" in names else ""
    wanted = "/v1/state/" + (f"{place[0]}/neighbors/{{address}}{more}" if place[1] else place[0])
    handler = next(route.handler for route in views.routes() if route.path == wanted)
    try:
        answer: Any = await handler(make_mocked_request("GET", f"/v1/state/{path}", match_info=names))
        return dict(json.loads(answer.body))
    finally:
        views.close()


@pytest.fixture(scope="module")
def viewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewed]:
    require_root_netns()
    if not (frr_installed() and RouteFeed.possible()):
        pytest.skip("FRRouting or BIRD is not installed (Debian packages frr, bird2)")
    name = f"vl{os.getpid() % 100000}"
    directory: Path = tmp_path_factory.mktemp("feed")
    with FrrHarness(f"{name}r", f"{name}r") as near, RouteFeed(near, f"{name}b", directory, ROUTES) as feed:
        configure(near.client(), ROUTING)
        frr = WatchedFrr(near)
        plane = LinuxDataplane(near.netns, near.netns)
        routing = FrrBackend(near.netns, near.vty_dir, near.config_dir, client=frr)
        try:
            client = near.client()
            wait_until(lambda: client.rib_summary().get("routesTotalFib", 0) > ROUTES, "all routes", 90)
            yield Viewed(frr, routing, plane, feed)
        finally:
            routing.close()
            plane.close()


def test_no_view_asks_for_the_whole_table(viewed: Viewed) -> None:
    viewed.frr.asked.clear()
    for path in (
        "interfaces", "bgp", "ospf", "acls", "control-plane", "neighbors", "hardware", "health",
        "routes", "routes?family=ipv4&offset=9000", "routes?protocol=bgp", "routes?protocol=static",
        "routes?prefix=16.0.0.0/8&within=true", "routes?prefix=0.0.0.0/0&within=true",
        f"routes?prefix={prefix(7)}", "routes?prefix=16.0.7.9", "routes?prefix=0.0.0.0/0",
    ):  # fmt: skip
        viewed.get(path)
    viewed.get(f"bgp/neighbors/{FAR}", address=FAR)
    for direction in ("received", "advertised"):
        names = {"address": FAR, "direction": direction}
        for query in ("", "?offset=900", "?prefix=16.0.7.9", f"?prefix={prefix(7)}", "?prefix=99.0.0.1",
                      "?prefix=16.0.0.0/16&within=true"):  # fmt: skip
            viewed.get(f"bgp/neighbors/{FAR}/{direction}{query}", **names)
    assert [command for command in viewed.frr.asked if not _BOUNDED.fullmatch(command)] == []
    assert len(viewed.frr.asked) > 15


def test_what_is_too_long_for_a_list_is_said(viewed: Viewed) -> None:
    page = viewed.get("routes?limit=1000")
    assert page["unlisted"]["ipv4"] > ROUTES
    assert f"only lists of up to {LISTED:,} are shown" in page["note"]
    assert page["counts"]["ipv4"]["bgp"] == {"rib": ROUTES, "fib": ROUTES}
    static = viewed.get("routes?protocol=static&family=ipv4&limit=1000")
    assert (static["total"], len(static["routes"]), static["note"]) == (STATICS, STATICS, "")
    assert {(row["consistent"], row["disagreement"]) for row in static["routes"]} == {(True, "")}


@pytest.mark.parametrize("asked", [prefix(7), prefix(ROUTES - 1), "16.0.7.9"])
def test_one_route_of_many_is_found_in_every_table(viewed: Viewed, asked: str) -> None:
    (row,) = viewed.get(f"routes?prefix={asked}")["routes"]
    assert row["protocol"] == "bgp"
    hops = {table: [hop["address"] for hop in row[table]] for table in ("rib", "kernel", "fib")}
    assert hops == {"rib": [FAR], "kernel": [FAR], "fib": [FAR]}
    assert row["consistent"], row["disagreement"]


def test_routes_of_a_neighbor_are_asked_for_one_by_one(viewed: Viewed) -> None:
    names = {"address": FAR, "direction": "received"}
    listed = viewed.get(f"bgp/neighbors/{FAR}/received", **names)
    assert (listed["listed"], listed["routes"], listed["prefixes"]) == (False, [], ROUTES)
    assert "too long for a list" in listed["note"]
    (route,) = viewed.get(f"bgp/neighbors/{FAR}/received?prefix=16.0.7.9", **names)["routes"]
    assert (route["prefix"], route["status"], route["next_hop"]) == (prefix(7), "accepted", FAR)
    inside = viewed.get(f"bgp/neighbors/{FAR}/received?prefix=16.0.0.0/22&within=true", **names)
    assert [route["prefix"] for route in inside["routes"]] == [prefix(at) for at in range(4)]
    names["direction"] = "advertised"

    def advertised() -> dict[str, Any]:
        (found,) = viewed.get(f"bgp/neighbors/{FAR}/advertised?prefix={prefix(7)}", **names)["routes"]
        return dict(found)

    # bgpd sends updates some seconds after it has the routes.
    wait_until(lambda: advertised()["status"] == "advertised", "the route to be advertised", 60)
    assert advertised()["learned_from"] == FAR


def test_no_commit_waits_for_a_view(viewed: Viewed) -> None:
    """One hangs in zebra, one in the namespace: both backends are observed, and FRR changed, in the
    meantime.
    """
    frr, gate = viewed.frr, threading.Event()
    inside = threading.Event()

    def stuck() -> None:
        inside.set()
        assert gate.wait(60)

    frr.stops.set()
    looking = threading.Thread(target=viewed.get, args=("routes?protocol=static",))
    reading = threading.Thread(target=viewed.plane._views.run, args=(stuck,))
    looking.start()
    reading.start()
    try:
        assert frr.stopped.wait(30)
        assert inside.wait(30)
        changed = viewed.document.model_copy(update={"static": {}})
        for wanted in (changed, viewed.document):
            for step in viewed.routing.plan(WantedRouting(wanted), viewed.routing.observe()):
                viewed.routing.apply(step)
        observed = viewed.plane.observe()
        assert list(viewed.plane.plan(observed, observed)) == []
        viewed.plane.compile_context()
        assert viewed.plane.counters()["interfaces"] == {}
        assert viewed.routing.bgp_state().neighbors[FAR].state == "Established"
        assert looking.is_alive()
        assert reading.is_alive()
    finally:
        frr.stops.clear()
        frr.goes_on.set()
        gate.set()
        looking.join(30)
        reading.join(30)
    assert not looking.is_alive()
