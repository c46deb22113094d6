"""OSPF through a tunnel between two routers, each with VPP, FRR and a feeder.

loop0 198.51.100.1                                             loop0 198.51.100.2
   [ one ] wan0 192.0.2.1 ------------------ 192.0.2.2 wan0 [ other ] loop1 10.2.0.1
           gre1 10.9.0.1  ~~ loop0 to loop0 ~~  10.9.0.2 gre1

Both announce loop0 through the tunnel: each then has a route to the tunnel's far end that leads into it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.integration.vpp.harness import PrivateVpp, run
from tests.live_lab import wait_until
from tests.real_router import RealRouter, real_routers
from tests.requirements import require_root_netns, require_rustc, require_vpp
from vpp_config.fib import fib_lookup

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_PATIENCE_S = 60.0
_TIMERS = {"area": "0.0.0.0", "hello_interval_s": 1, "dead_interval_s": 4}


@dataclass(frozen=True)
class Ends:
    """Both routers, and the VPP of each."""

    routers: tuple[RealRouter, RealRouter]
    vpps: tuple[PrivateVpp, PrivateVpp]

    def commit(self, number: int, document: dict[str, Any]) -> None:
        """Commit to one of them, and see that it reads back."""
        engine = self.routers[number].engine()
        engine.recover()
        result = engine.commit(CommitRequest(document, CommitOptions(author="test", comment="tunnel")))
        assert result.state == "done", result.error
        assert not engine.preview(document).steps
        engine.close()

    def route(self, destination: str) -> set[str]:
        """Where the one's FRR sends a prefix: the interfaces of the route in use."""
        netns = self.vpps[0].mirror_namespace
        shown = run("vtysh", "-N", netns, "-c", f"show ip route {destination} json")
        routes = json.loads(shown).get(destination, [])
        return {hop["interfaceName"] for one in routes if one.get("selected") for hop in one["nexthops"]}

    def way(self, destination: str) -> set[str]:
        """The next hops by which the one's VPP sends it."""
        client = self.vpps[0].client()
        found = fib_lookup(client, destination)
        client.close()
        return set() if found is None else {str(path.next_hop) for path in found.paths}

    def ping(self, destination: str, count: int = 1, every_s: float = 1) -> bool:
        """Whether the one's own pings are answered, any of them."""
        ping = ["ping", "-n", "-W", "1", "-c", str(count), "-i", str(every_s), destination]
        argv = ["ip", "netns", "exec", self.vpps[0].mirror_namespace, *ping]
        return subprocess.run(argv, capture_output=True, check=False).returncode == 0


@pytest.fixture
def ends(tmp_path: Path) -> Iterator[Ends]:
    require_root_netns()
    require_vpp()
    require_rustc()
    with ExitStack() as stack:
        made = []
        for name in ("one", "other"):
            directory = tmp_path / name
            directory.mkdir()
            made.append(stack.enter_context(real_routers("vpp", directory))(directory / "router"))
        one, other = made
        assert one.vpp is not None and other.vpp is not None
        run("ip", "link", "set", "peer0", "netns", other.vpp.namespace, namespace=one.vpp.far(0))
        run("ip", "link", "set", "peer0", "up", namespace=other.vpp.namespace)
        yield Ends((one, other), (one.vpp, other.vpp))


def _document(number: int, *, tunnel: bool = True) -> dict[str, Any]:
    own, far = number + 1, 2 - number
    interfaces: dict[str, Any] = {
        "wan0": {
            "type": "ethernet",
            "match": {"device": ("nic0", "peer0")[number]},
            "addresses": [f"192.0.2.{own}/24"],
        },
        "loop0": {"type": "loopback", "addresses": [f"198.51.100.{own}/32"]},
        "loop1": {"type": "loopback", "addresses": [f"10.{own}.0.1/24"]},
    }
    static = {"198.51.100.0/24": {"next_hops": [{"address": f"192.0.2.{far}"}]}}
    routing: dict[str, Any] = {"static": static}
    if tunnel:
        interfaces["gre1"] = {
            "type": "gre",
            "source": "loop0",
            "destination": f"198.51.100.{far}",
            "addresses": [f"10.9.0.{own}/30"],
        }
        quiet = {"area": "0.0.0.0", "passive": True}
        routing["ospf"] = {
            "router_id": f"198.51.100.{own}",
            "interfaces": {
                "gre1": {**_TIMERS, "network_type": "point-to-point"},
                "loop0": quiet,
                "loop1": quiet,
            },
        }
    return {"interfaces": interfaces, "routing": routing}


def test_a_route_to_the_far_end_through_the_tunnel_does_no_harm(ends: Ends) -> None:
    for number in (0, 1):
        ends.commit(number, _document(number))
    wait_until(lambda: ends.route("10.2.0.0/24") == {"gre1"}, timeout_s=_PATIENCE_S, what="OSPF's route")
    wait_until(
        lambda: ends.route("198.51.100.2/32") == {"gre1"}, timeout_s=_PATIENCE_S, what="a route in a ring"
    )
    wait_until(lambda: ends.way("10.2.0.1") == {"10.9.0.2"}, timeout_s=_PATIENCE_S, what="the route in VPP")
    assert ends.way("198.51.100.2") == {"192.0.2.2"}
    wait_until(lambda: ends.ping("10.2.0.1"), timeout_s=_PATIENCE_S, what="an answer through the tunnel")
    # For longer than a neighbor may be silent: the tunnel carries OSPF although FRR has the loop.
    assert ends.ping("10.2.0.1", count=12, every_s=0.5)
    assert ends.route("198.51.100.2/32") == {"gre1"}

    # The other end is removed and comes back; then the one's tunnel is removed, with all routes into it.
    ends.commit(1, _document(1, tunnel=False))
    wait_until(lambda: not ends.route("10.2.0.0/24"), timeout_s=_PATIENCE_S, what="the end of OSPF's route")
    assert ends.way("198.51.100.2") == {"192.0.2.2"}
    ends.commit(1, _document(1))
    wait_until(lambda: ends.way("10.2.0.1") == {"10.9.0.2"}, timeout_s=_PATIENCE_S, what="the route again")
    ends.commit(0, _document(0, tunnel=False))
    assert ends.way("198.51.100.2") == {"192.0.2.2"}
    ends.commit(0, {})
