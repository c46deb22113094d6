"""VPP killed under a full table: BGP, OSPF, the FIB and the alarms are as before, and how long that took.

::

    BIRD, AS 65010, MILLRACE_SOAK_ROUTES (1,000,000) ── lan0 [router] wan0, core0 ── the lab's neighbors
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import full_table
from tests.live_lab import LiveLab, json_of, live_lab, patch
from tests.requirements import needs_root_netns, require_vpp
from tests.route_feed import RouteFeed, prefix
from tests.soak.options import options
from vpp_config.errors import VppError
from vpp_config.fib import fib_lookups
from vpp_config.papi_client import PapiClient

pytestmark = [pytest.mark.soak, pytest.mark.root, pytest.mark.vpp, needs_root_netns]

ROUTES = int(os.environ.get("MILLRACE_SOAK_ROUTES", "1000000"))
_LIMIT_S = float(os.environ.get("MILLRACE_SOAK_SECONDS", "1800"))
_SAMPLE = 2000
_REST_S = 10.0
_ROUNDING_S = 2
_LENGTH_AND_COUNT = re.compile(r"^\s+(\d+)\s+(\d+)\s*$", re.MULTILINE)


def _wait(condition: Callable[[], object], what: str, instead: Callable[[], object] = str) -> float:
    """How long it took; a part of the router that is away does not end the wait."""
    began_s = time.monotonic()
    while True:
        try:
            if condition():
                return time.monotonic() - began_s
        except (OSError, subprocess.CalledProcessError, AssertionError, httpx.HTTPError, VppError):
            pass
        assert time.monotonic() - began_s < _LIMIT_S, f"{what}; instead: {instead()}"
        time.sleep(0.5)


class _Router:
    """What is compared."""

    def __init__(self, live: LiveLab) -> None:
        self._live = live
        chance = random.Random(options().seed)
        self._sample = [prefix(chance.randrange(ROUTES)) for _ in range(_SAMPLE)]

    @contextmanager
    def _vpp(self) -> Iterator[PapiClient]:
        client = PapiClient(Path(self._live.environment["VPP_API_SOCKET"]))
        try:
            yield client
        finally:
            client.close()

    def in_fib(self) -> dict[str, int]:
        """Prefixes in VPP's FIB by family and length, without the hosts that come and go by ARP and ND."""
        found: dict[str, int] = {}
        with self._vpp() as client:
            for family, command, host in (("IPv4", "ip", 32), ("IPv6", "ip6", 128)):
                text = str(client.call("cli_inband", cmd=f"show {command} fib summary").reply)
                for length, count in _LENGTH_AND_COUNT.findall(text):
                    if int(length) != host:
                        found[f"{family} /{length}"] = int(count)
        return found

    def rest(self) -> None:
        """Wait until nothing came or went for a while."""
        while True:
            found = self.in_fib(), self.sessions()
            time.sleep(_REST_S)
            if (self.in_fib(), self.sessions()) == found and not self.complaints():
                return

    def paths(self) -> list[tuple[str, str]]:
        """Of a sample of the table: next hop and interface, by name."""
        with self._vpp() as client:
            names: dict[int | None, str] = {
                row.sw_if_index: row.interface_name for row in client.dump("sw_interface_dump")
            }
            found = fib_lookups(client, self._sample)
        return [
            (str(path.next_hop), names.get(path.sw_if_index, "none"))
            for route in found
            if route is not None
            for path in route.paths
        ]

    def sessions(self) -> dict[str, Any]:
        """BGP neighbors with their state and prefixes, and OSPF neighbors that are full."""
        bgp = json_of(self._live.api.get("/state/bgp"))["neighbors"]
        ospf = json_of(self._live.api.get("/state/ospf"))["neighbors"]
        return {
            "bgp": {name: (one["state"], one.get("families")) for name, one in sorted(bgp.items())},
            "ospf": sorted(one["router_id"] for one in ospf if one["full"]),
        }

    def sessions_since(self) -> dict[str, int]:
        """When each BGP session came up, in seconds since the epoch."""
        bgp = json_of(self._live.api.get("/state/bgp"))["neighbors"]
        return {name: one["established_epoch_s"] for name, one in bgp.items()}

    def complaints(self) -> list[str]:
        """Alarms, drift, and parts that are not up."""
        alarms = json_of(self._live.api.get("/alarms"))["items"]
        health = json_of(self._live.api.get("/state/health"))["parts"]
        drift: list[str] = json_of(self._live.api.get("/status"))["drift"]
        standing = [f"{one['kind']} {one['object']}" for one in alarms]
        return [*standing, *(name for name, one in health.items() if one["state"] != "up"), *drift]


@pytest.mark.timeout(7200)
def test_vpp_killed_under_a_full_table() -> None:
    """Everything comes back by itself."""
    require_vpp()
    if not RouteFeed.possible():
        pytest.skip("BIRD is not installed (Debian package bird2)")
    with live_lab("fk", "vpp") as live, full_table.neighbor(live, ROUTES):
        router = _Router(live)
        # Nobody sized VPP: the room for all of them follows from the machine.
        size = json_of(live.api.get("/state/dataplane"))
        assert size["route_scale"] == "auto" and not size["restart_due"]
        if size["room_for_routes"] < ROUTES:
            pytest.skip(f"VPP has room for {size['room_for_routes']:,} routes: {size['reason']}")
        print(f"\n{size['chosen_route_scale']}, room for {size['room_for_routes']:,}: {size['reason']}")
        patch(live, {"routing": full_table.ROUTING})
        in_s = _wait(lambda: router.in_fib()["IPv4 /24"] >= ROUTES, f"{ROUTES} routes in VPP")
        _wait(lambda: not router.complaints(), "a router that is well")
        router.rest()
        before = router.in_fib(), router.paths(), router.sessions()
        since = router.sessions_since()
        assert len(before[1]) >= _SAMPLE

        os.kill(int(live.supervisorctl("pid", "vpp")), signal.SIGKILL)
        began_s = time.monotonic()
        fib_s = _wait(
            lambda: router.in_fib() == before[0] and router.paths() == before[1], "the FIB as before"
        )
        _wait(lambda: router.sessions() == before[2], "the sessions as before")
        sessions_s = time.monotonic() - began_s
        _wait(lambda: not router.complaints(), "a router that is well again")
        well_s = time.monotonic() - began_s
        assert (router.in_fib(), router.paths(), router.sessions()) == before
        # Mirrors outlive VPP, and sessions with them. FRR reckons the time from now, and rounds.
        now = router.sessions_since()
        assert all(now[name] - since[name] <= _ROUNDING_S for name in since)
        print(
            f"\n{ROUTES:,} routes from a BGP neighbor in VPP after {in_s:.1f} s; VPP killed: FIB as before "
            f"after {fib_s:.1f} s, sessions {sessions_s:.1f} s, no alarm {well_s:.1f} s",
            flush=True,
        )
