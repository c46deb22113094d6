"""A neighbor with 1,000,000 routes whose pages are read: how long bgpd is held by any question.

bgpd counts itself what CPU each of its tasks took, so a busy machine changes nothing about it.
``MILLRACE_SOAK_ROUTES`` scales it.

    views --- FRR  d0 --- BIRD
"""

from __future__ import annotations

import os
import random
import re
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from appliance.config.document import RouterConfig
from appliance.config.pointer import merge_patch
from appliance.features.bgp.neighbor_routes import neighbor_routes
from appliance.features.bgp.routes_exchanged import filters
from appliance.features.bgp.table_lists import LISTED
from appliance.impact.change import Change
from appliance.impact.deadline import Deadline
from appliance.impact.facts import Live, LiveFacts
from appliance.routing.frr import FrrBackend
from appliance.state.bgp_routes import BgpRoutes, BgpRoutesQuery
from frr_config import FrrClient
from frr_config.protocols.bgp.routes import size
from tests.integration.frr.conftest import configure
from tests.integration.frr.harness import FrrHarness, frr_installed, wait_until
from tests.requirements import require_root_netns
from tests.route_feed import FAR, ROUTING, RouteFeed, prefix

pytestmark = [pytest.mark.root, pytest.mark.timeout(1800)]
ROUTES = int(os.environ.get("MILLRACE_SOAK_ROUTES", "1000000"))
QUESTIONS = 200
_HELD_MS = 100
"""CPU time of the longest question for a single route; FRR warns of a task at 5,000."""
_LISTED_MS = 2000
"""Of the list of a table of as many routes as are listed."""
CONFIG = RouterConfig.model_validate({"schema_version": 1, "routing": ROUTING})


def _held_ms(client: FrrClient) -> tuple[float, float]:
    """The longest CPU time of a question since the last call, and the sum of all."""
    shown = client.show("bgpd", "show thread cpu")
    found = re.search(r"^ *\d+ +([\d.]+) +\d+ +\d+ +(\d+) .*\bvtysh_read *$", shown, re.MULTILINE)
    client.show("bgpd", "clear thread cpu")
    return (int(found[2]) / 1000, float(found[1])) if found else (0.0, 0.0)


def _ask(routing: FrrBackend, direction: str, **query: Any) -> tuple[BgpRoutes, float]:
    asked = BgpRoutesQuery.model_validate({"address": FAR, "direction": direction, **query})
    begun_s = time.monotonic()
    answer = neighbor_routes(CONFIG, routing, asked)
    return answer, (time.monotonic() - begun_s) * 1000


def _foretold(routing: FrrBackend, routes: int) -> tuple[str, float]:
    """What a plan says of a list that denies a part of them, and how long it took."""
    lists: dict[str, Any] = {"new": {"rules": {"10": {"action": "deny", "prefix": "16.0.0.0/8", "le": 32}}}}
    lists["new"]["rules"]["20"] = {"action": "permit", "prefix": "0.0.0.0/0", "le": 32}
    policy: dict[str, Any] = {"routing": {"policy": {"prefix_lists": lists}}}
    policy["routing"]["bgp"] = {"neighbors": {FAR: {"ipv4_unicast": {"prefix_list_in": "new"}}}}
    document = CONFIG.model_dump(mode="json", exclude_unset=True)
    dataplane: Any = None

    def samples(family: str, vrf: str) -> list[str]:
        assert (family, vrf) == ("ipv4", "")
        return [prefix(number) for number in range(0, routes, routes // 200)]

    with ThreadPoolExecutor(1) as readers:
        facts = LiveFacts(Live(dataplane, routing, samples), readers, Deadline(10))
        change = Change(CONFIG, RouterConfig.model_validate(merge_patch(document, policy)), facts)
        begun_s = time.monotonic()
        (refused,) = [one.text for one in filters(change) if one.grade == "certain"]
        return refused, (time.monotonic() - begun_s) * 1000


@pytest.mark.parametrize("routes", [LISTED // 2, ROUTES])
def test_no_view_holds_bgpd(routes: int, tmp_path: Path) -> None:
    require_root_netns()
    if not (frr_installed() and RouteFeed.possible()):
        pytest.skip("FRRouting or BIRD is not installed (Debian packages frr, bird2)")
    name, rng = f"sb{os.getpid() % 100000}", random.Random(1)
    with FrrHarness(name, name) as harness, RouteFeed(harness, f"{name}b", tmp_path, routes):
        client = harness.client()
        configure(client, ROUTING)
        wait_until(lambda: size(client, "ipv4").sent >= routes, "all routes received and sent back", 600)
        routing = FrrBackend(name, harness.vty_dir, harness.config_dir, client=client)
        _held_ms(client)
        listed, took_ms = _ask(routing, "received")
        held_ms, _ = _held_ms(client)
        print(f"\n{routes:,} routes: list {took_ms:.1f} ms, bgpd held {held_ms:.1f} ms")
        assert listed.listed == (routes <= LISTED)
        assert listed.total == (routes if listed.listed else 0)
        assert held_ms < (_LISTED_MS if listed.listed else _HELD_MS)
        took: list[float] = []
        for _ in range(QUESTIONS):
            wanted = prefix(rng.randrange(routes))
            direction = rng.choice(("received", "advertised"))
            answer, took_ms = _ask(
                routing, direction, prefix=rng.choice((wanted, wanted.replace("0/24", "9")))
            )
            assert [route.prefix for route in answer.routes] == [wanted]
            took.append(took_ms)
        nothing, _ = _ask(routing, "received", prefix="99.0.0.1")
        assert nothing.routes == ()
        held_ms, sum_ms = _held_ms(client)
        print(
            f"{QUESTIONS} single routes: median {statistics.median(took):.1f} ms, max {max(took):.1f} ms; "
            f"bgpd held {held_ms:.2f} ms at most, {sum_ms:.0f} ms in all"
        )
        assert held_ms < _HELD_MS
        if routes > LISTED:
            refused, took_ms = _foretold(routing, routes)
            held_ms, sum_ms = _held_ms(client)
            print(f"{refused}\n{took_ms:.0f} ms; bgpd held {held_ms:.2f} ms at most, {sum_ms:.0f} ms in all")
            assert re.match(rf"\d+ of the \d+ examined of {routes:,} IPv4 unicast routes from", refused)
            assert held_ms < _HELD_MS
            inside, took_ms = _ask(routing, "received", prefix="16.0.0.0/16", within=True)
            held_ms, sum_ms = _held_ms(client)
            print(
                f"inside a /16: {took_ms:.0f} ms; bgpd held {held_ms:.2f} ms at most, {sum_ms:.0f} ms in all"
            )
            assert inside.total == 256
            assert held_ms < _HELD_MS
        log = (harness.vty_dir / "bgpd.log").read_text(errors="replace")
        assert not [line for line in log.splitlines() if "HOG" in line or "STARVATION" in line]
