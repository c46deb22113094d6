"""Whatever a viewer asks for, FRR with a million routes is asked for single routes, counts, short lists."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
from aiohttp.test_utils import make_mocked_request

from appliance.agent.router import Router
from appliance.agent.state_api import StateApi
from appliance.config.document import RouterConfig
from appliance.dataplane.base import Traffic
from appliance.dataplane.route_answer import RouteAnswer, VrfTable
from appliance.engine.reserve import Room
from appliance.engine.turns import Turns
from appliance.routing.frr import FrrBackend
from appliance.state.control_plane import ControlPlaneState
from appliance.state.dataplane import DataplaneState
from appliance.state.hardware import Hardware
from appliance.state.health import PartHealth
from frr_config import FakeFrr

T = TypeVar("T")
ROUTE = {"prefix": "16.0.7.0/24", "protocol": "bgp", "selected": True, "nexthops": [{"ip": "192.0.2.1"}]}
SHORT = {
    "show version",
    "show bfd peers json",
    "show bgp summary json",
    "show bgp neighbors json",
    "show bgp neighbors 192.0.2.1 json",
    "show bgp ipv4 unicast 16.0.7.0/24 json",
    "show bgp ipv4 unicast 16.0.7.9 json",
    *(f"show bgp ipv4 unicast {ip_network(f'16.0.7.9/{length}', strict=False)} json" for length in range(33)),
    *(f"show ip route {ip_network(f'16.0.7.9/{length}', strict=False)} json" for length in range(33)),
    *(
        f"show bgp ipv4 unicast {inner} json"
        for length in range(24, 33)
        for inner in ip_network("16.0.7.0/24").subnets(new_prefix=length)
    ),
    "show ip ospf database external 16.0.7.0 json",
    "show ip ospf json",
    "show ip ospf neighbor detail json",
    "show ip ospf interface json",
    "show ip route summary json",
    "show ipv6 route summary json",
    "show ip route 16.0.7.0/24 json",
    "show ip route 16.0.7.9 json",
    "show ip route 0.0.0.0/0 json",
    "show ip route static json",
}
"""All queries to FRR that are allowed here. A new view adds its query if the answer is short on any table."""
PATHS = (
    "interfaces", "bgp", "bfd", "ospf", "acls", "bonds", "control-plane", "neighbors", "hardware",
    "dhcp-relays", "forwarding", "static-routes", "nat/mappings", "objects", "dataplane",
    "health", "nat", "nat/users", "nat/sessions", "system", "captures", "benches", "counters", "traces",
    "feeder", "bgp/index", "bgp/search", "bgp/search?asn=65010&offset=900000&limit=200",
    "forwarding", "routes?prefix=16.0.7.9&covering=true", "routes?next_hop=192.0.2.1",
    "routes", "routes?family=ipv4&offset=900000&limit=1000", "routes?protocol=bgp", "routes?protocol=static",
    "routes?protocol=ospf", "routes?prefix=16.0.0.0/8&within=true", "routes?prefix=0.0.0.0/0&within=true",
    "routes?prefix=16.0.7.0/24", "routes?prefix=16.0.7.9", "routes?prefix=16.0.7.9/32&longest=true",
    "routes?prefix=0.0.0.0/0", "routes?prefix=16.0.7.9&protocol=bgp",
    *(f"bgp/neighbors/192.0.2.1/{direction}{query}" for direction in ("received", "advertised") for query in (
        "", "?offset=900000&limit=200", "?family=ipv6", "?community=65001:1&asn=65001", "?prefix=16.0.7.0/24",
        "?prefix=16.0.7.9", "?prefix=16.0.7.9/32&longest=true", "?prefix=16.0.7.0/24&within=true",
    )),
    "ospf/database", "ospf/database?type=external&offset=5000", "ospf/database?lsa_id=16.0.7.0",
    "ospf/database?type=external&lsa_id=16.0.7.0",
    "bgp?vrf=blue", "ospf?vrf=blue", "ospf/database?vrf=blue", "routes?vrf=blue",
    "routes?protocol=bgp&vrf=blue", "routes?prefix=16.0.7.9&vrf=blue",
    "routes?prefix=16.0.0.0/8&within=true&vrf=blue",
    "bgp/neighbors/192.0.2.1/received?vrf=blue", "bgp/neighbors/192.0.2.1/received?prefix=16.0.7.9&vrf=blue",
)  # fmt: skip


class MillionFrr(FakeFrr):
    """Has a million BGP routes, and writes down what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.in_blue: list[str] = []
        """Of these, those of VRF blue."""

    def show(self, daemon: str, command: str) -> str:
        if "vrf blue " in command:
            command = command.replace("vrf blue ", "")
            self.in_blue.append(command)
        self.asked.append(command)
        if command == "show ip route summary json":
            counts = [
                {"type": "ebgp", "rib": 1_000_000, "fib": 1_000_000},
                {"type": "static", "rib": 12, "fib": 12},
            ]
            return json.dumps({"routes": counts})
        if command == "show bgp summary json":
            peer = {"state": "Established", "remoteAs": 65001, "pfxRcd": 1_000_000, "pfxSnt": 1_000_000}
            return json.dumps(
                {"ipv4Unicast": {"as": 65000, "ribCount": 2_000_000, "peers": {"192.0.2.1": peer}}}
            )
        if command == "show ip ospf json":
            return json.dumps({"routerId": "192.0.2.129", "lsaExternalCounter": 1_000_000})
        if command in ("show ip route 16.0.7.0/24 json", "show ip route 16.0.7.9 json"):
            return json.dumps({ROUTE["prefix"]: [ROUTE]})
        return super().show(daemon, command)

    def streamed(self, daemon: str, command: str) -> Iterator[str]:
        yield self.show(daemon, command)


class Plane:
    """A data plane that answers with nothing; it has no question for a whole table."""

    name = "linux"
    kernel_forwards = True

    def kernel_routes(
        self,
        destinations: Sequence[str],
        vrf: VrfTable | None = None,
    ) -> list[RouteAnswer]:
        assert len(destinations) <= 1000
        return [None] * len(destinations)

    fib = kernel_routes

    def interfaces_state(self) -> list[Any]:
        return []

    acl_state = neighbors = interfaces_state

    def counters(self) -> dict[str, Any]:
        return {"interfaces": {}}

    def look(self, *, vpp: Callable[[Any], T], linux: Callable[[Any], T]) -> T:
        """At a kernel without links."""
        return linux(SimpleNamespace(route=SimpleNamespace(get_links=list), index=lambda _: None))

    def hardware(self) -> Hardware:
        return Hardware(driver="linux")

    def health(self) -> PartHealth:
        return PartHealth(state="up")

    def size_state(self, config: RouterConfig) -> DataplaneState:
        return DataplaneState(driver="linux")

    def control_plane_state(self) -> ControlPlaneState:
        return ControlPlaneState(interfaces=(), policers=())

    def traffic(self) -> Traffic:
        return Traffic({}, {}, {})


_KEPT = {"remote_asn": 65001, "ipv4_unicast": {"soft_reconfiguration_inbound": True}}


class Engine:
    """The engine's answers to the views."""

    turns = Turns()

    running_config = RouterConfig.model_validate(
        {
            "schema_version": 1,
            "interfaces": {
                name: {"type": "ethernet", "match": {"mac": f"52:54:00:00:00:0{number}"}}
                for number, name in enumerate(("lan0", "wan0"))
            },
            "vrfs": {"blue": {"routing": {"bgp": {"asn": 65000, "neighbors": {"192.0.2.1": _KEPT}}}}},
            "nat": {"inside": ["lan0"], "outside": ["wan0"]},
            "routing": {
                "bgp": {
                    "asn": 65000,
                    "neighbors": {"192.0.2.1": _KEPT},
                }
            },
        }
    )

    def __init__(self, state_dir: Path) -> None:
        self.state_dir = state_dir

    def storage(self) -> dict[str, dict[str, int]]:
        return {}

    def room(self) -> Room:
        return Room(10**12, 0)

    def history_health(self) -> PartHealth:
        return PartHealth(state="up", detail="whole")


async def _get(views: StateApi, path: str) -> dict[str, Any]:
    wanted = f"/v1/state/{path.partition('?')[0]}"
    names = {}
    if "/neighbors/" in path:
        names = {"address": "192.0.2.1", "direction": wanted.rpartition("/")[2]}
        wanted = "/v1/state/bgp/neighbors/{address}/{direction}"
    handler: Any = next(route.handler for route in views.routes() if route.path == wanted)
    answer = await handler(make_mocked_request("GET", f"/v1/state/{path}", match_info=names))
    return dict(json.loads(answer.body))


def _views(frr: FakeFrr, state_dir: Path) -> StateApi:
    given: Any = Plane()
    routing = FrrBackend("nowhere", Path("nowhere"), Path("nowhere"), client=frr)
    engine: Any = Engine(state_dir)
    return StateApi(Router(engine, given, routing, "nowhere"))


@pytest.mark.parametrize("path", PATHS)
def test_a_view_asks_for_nothing_long(path: str, tmp_path: Path) -> None:
    frr = MillionFrr()
    views = _views(frr, tmp_path)
    try:
        answer = asyncio.run(_get(views, path))
    finally:
        views.close()
    assert set(frr.asked) <= SHORT
    assert "vrf=blue" not in path or frr.in_blue == frr.asked
    if path.startswith("routes"):
        assert answer["routes"] or answer["note"] or "protocol=" in path or path.endswith("0.0.0.0/0")


def test_every_view_of_the_agent_is_among_them(tmp_path: Path) -> None:
    views = _views(MillionFrr(), tmp_path)
    asked = [path.partition("?")[0] for path in PATHS]
    known = {f"/v1/state/{path}" for path in asked if "/neighbors/" not in path}
    known |= {f"/v1/state/bgp/neighbors/{{address}}{more}" for more in ("", "/{direction}")}
    assert {route.path for route in views.routes() if route.method == "GET"} == known
    views.close()
