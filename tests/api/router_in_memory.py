"""A whole agent on a Unix socket, whose data plane and routing daemon are dictionaries.

Engine, revisions, sealing, validation and HTTP are real; only the parts that would touch the kernel are not.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from aiohttp import web

from appliance.agent import peers
from appliance.agent.application import application
from appliance.agent.foretelling import Foretelling
from appliance.agent.router import Router
from appliance.agent.upgrade_api import UpgradeApi
from appliance.client import AgentClient
from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.dataplane.base import Counters, InterfaceCounters, RuleCounters, Traffic, WorkerLoad
from appliance.dataplane.context import CompileContext
from appliance.dataplane.machine import Machine
from appliance.dataplane.route_answer import RouteAnswer, VrfTable
from appliance.dataplane.vpp.size_state import size_state
from appliance.dataplane.vpp.sizing import settings
from appliance.engine.engine import Engine
from appliance.errors import NotFound
from appliance.features.bgp.index_client import BgpIndexClient
from appliance.health.events import EventLog
from appliance.health.watch import HealthWatch
from appliance.impact.change import Arrival
from appliance.routing.frr import FrrBackend
from appliance.routing.known_addresses import Address
from appliance.routing.rows import Family, RibRow
from appliance.routing.view import VrfRoutingView
from appliance.state.acls import AclRuleState, AclState
from appliance.state.bgp import BgpNeighborDetail, BgpNeighborState, BgpState
from appliance.state.commit_options import CommitOptions
from appliance.state.control_plane import ControlPlaneState, GuardedInterface, PuntPolicer
from appliance.state.dataplane import DataplaneState
from appliance.state.hardware import Hardware
from appliance.state.health import PartHealth
from appliance.state.interfaces import InterfaceState
from appliance.state.neighbors import NeighborState
from appliance.state.ospf import OspfNeighborState, OspfState
from appliance.state.routes import RibHop, RouteCount
from appliance.upgrade.paths import Paths
from tests.bgp_answers import UP, FrrWithSessions
from tests.unit.engine.toys import PATIENCE, Toy, compile_toy

if TYPE_CHECKING:
    from appliance.dataplane.looking import KernelLooking, VppLooking
    from appliance.logs.source import LogSource
    from frr_config import State

T = TypeVar("T")
DOCUMENT: dict[str, Any] = {
    "schema_version": 1,
    "system": {"hostname": "edge"},
    "interfaces": {
        "lan0": {"type": "ethernet", "match": {"device": "nic-lan"}, "addresses": ["10.10.0.1/24"]},
        "wan0": {"type": "ethernet", "match": {"device": "nic-wan"}, "addresses": ["192.0.2.2/30"]},
        "lo1": {"type": "loopback", "addresses": ["192.0.2.129/32"]},
    },
    "routing": {
        "static": {"198.51.100.0/24": {"next_hops": [{"address": "10.10.0.2"}]}},
        "bgp": {
            "asn": 65000,
            "router_id": "192.0.2.129",
            "neighbors": {
                "192.0.2.1": {"remote_asn": 65001, "password": "correct-horse", "ipv4_unicast": {}}
            },
        },
    },
    "acls": {"edge-in": {"rules": {"10": {"action": "permit"}}}},
}
"""The running document at the beginning of a test."""

PASSWORD = "correct-horse"


class _ToyDataplane(Toy):
    """The data plane's side of the agent."""

    packets = 0
    kernel_forwards = True

    def __init__(self, name: str, down: str, up: str) -> None:
        super().__init__(name, down, up)
        self.without_link: set[str] = set()
        self.learned: list[NeighborState] = []
        self._began_s = time.monotonic()

    def look(self, *, vpp: Callable[[VppLooking], T], linux: Callable[[KernelLooking], T]) -> T:
        kernel: Any = SimpleNamespace(route=SimpleNamespace(get_links=list), index=lambda _: None)
        return linux(kernel)

    def capabilities(self) -> Capabilities:
        return Capabilities(driver="linux")

    def compile_context(self) -> CompileContext:
        return CompileContext()

    def counters(self) -> dict[str, Any]:
        # A hundred a second, however many listeners there are.
        self.packets = 100 + int((time.monotonic() - self._began_s) * 100)
        one = InterfaceCounters(rx_packets=self.packets, rx_bytes=self.packets * 100, tx_packets=self.packets)
        return Counters(
            {"lan0": one, "wan0": one},
            (WorkerLoad("main", 1.5, 0.1),),
            {"no route": 3},
        ).to_json()

    def traffic(self) -> Traffic:
        return Traffic({}, {}, {})

    def acl_hits(self) -> dict[str, dict[int, RuleCounters]]:
        return {"edge-in": {10: RuleCounters(self.packets, self.packets * 100)}}

    def interfaces_state(self) -> list[InterfaceState]:
        return [
            InterfaceState(name="lan0", type="ethernet", enabled=True, link="up", mtu=1500, device="nic-lan")
        ]

    def links(self) -> dict[str, bool]:
        names = [key.split()[1] for key in self.state if key.startswith("interface ")]
        return {name: name not in self.without_link for name in names}

    def links_observed(self) -> None:
        return None

    def fib(self, destinations: Sequence[str], vrf: VrfTable | None = None) -> list[RouteAnswer]:
        return self.kernel_routes(destinations)

    def kernel_routes(self, destinations: Sequence[str], vrf: VrfTable | None = None) -> list[RouteAnswer]:
        return [None] * len(destinations)

    def acl_state(self) -> list[AclState]:
        return [AclState(name="edge-in", rules=(AclRuleState(sequence=10, packets=1, bytes=100),))]

    def size_state(self, config: RouterConfig) -> DataplaneState:
        machine = Machine(8, 7950)
        return size_state(config, machine, settings(config.dataplane, machine))

    def control_plane_state(self) -> ControlPlaneState:
        counts = GuardedInterface(interface="lan0", accepted={"bgp": 12}, dropped={"bgp": 3, "tcp": 40})
        limit = PuntPolicer(family="ipv4", rate_pps=50_000, passed=12, dropped=0)
        return ControlPlaneState(interfaces=(counts,), policers=(limit,))

    def neighbors(self) -> list[NeighborState]:
        return list(self.learned)

    def forget_neighbors(self, interface: str | None, address: str | None) -> int:
        kept = [
            one
            for one in self.learned
            if interface not in (None, one.interface) or address not in (None, one.address)
        ]
        forgotten, self.learned = len(self.learned) - len(kept), kept
        return forgotten

    def hardware(self) -> Hardware:
        return Hardware(driver=self.name)

    def health(self) -> PartHealth:
        return PartHealth(state="up")

    def close(self) -> None:
        pass


class _ToyRouting(Toy):
    """FRR's side of the agent."""

    def __init__(self, name: str, down: str, up: str) -> None:
        super().__init__(name, down, up)
        self.sessions = {"192.0.2.1": BgpNeighborState(state="established")}
        self.adjacencies: tuple[OspfNeighborState, ...] = ()
        self.static: dict[str, tuple[RibHop, ...]] = {
            "198.51.100.0/24": (RibHop(address="10.10.0.2", interface="lan0", active=True),)
        }
        """The static routes that it has installed, and their next hops."""
        self.routes: dict[str, int] = {}
        """The number of routes of each protocol that it reports; none of them can be listed."""
        self.frr = FrrWithSessions(**{"192.0.2.1": UP})
        # Questions about sessions and actions on them take the real path, to an FRR in memory.
        self._backend = FrrBackend("nowhere", Path("nowhere"), Path("nowhere"), client=self.frr)
        self.operate, self._ask = self._backend.operate, self._backend.ask

    def may_reopen(self, before: RouterConfig, after: RouterConfig) -> bool:
        return self._backend.may_reopen(before, after)

    def reopen(self, before: RouterConfig, after: RouterConfig) -> list[str]:
        return self._backend.reopen(before, after)

    def ask(self, question: Callable[[State], T]) -> T:
        return self._ask(question)

    def in_vrf(self, vrf: str) -> VrfRoutingView:
        return self._backend.in_vrf(vrf) if vrf else self

    def rib_entry(self, destination: str) -> list[RibRow]:
        hops = self.static.get(destination)
        return [] if hops is None else [RibRow(destination, "static", hops, installed=True, distance=1)]

    def interfaces_known(self, closely: Iterable[str] = ()) -> dict[str, Any]:
        return {}

    def tell_addresses(self, addresses: Iterable[Address]) -> None:
        raise AssertionError(f"nothing is unknown: {addresses}")

    def rib_counts(self, family: Family) -> dict[str, RouteCount]:
        return {
            name: RouteCount(rib=count, fib=count) for name, count in self.routes.items() if family == "ipv4"
        }

    def rib_list(self, family: Family, protocol: str | None, most: int) -> list[RibRow]:
        return []

    def bgp_state(self) -> BgpState:
        return BgpState(asn=65000, neighbors=self.sessions)

    def bgp_neighbor(self, address: str) -> BgpNeighborDetail:
        if address != "192.0.2.1":
            raise NotFound("there is no BGP neighbor with this address")
        return BgpNeighborDetail(state="established")

    def ospf_state(self) -> OspfState:
        return OspfState(neighbors=self.adjacencies)

    def health(self) -> PartHealth:
        return PartHealth(state="up")

    def close(self) -> None:
        pass


class UpgradeService:
    """Replaces the unit that does upgrades: the test does its work."""

    def __init__(self) -> None:
        self.begun = 0
        self.working = False

    def start(self) -> None:
        self.begun += 1
        self.working = True

    def works(self) -> bool:
        return self.working


class RouterInMemory:
    """The agent in a thread. Enter it to start; `document` is committed as revision 1."""

    log_source: LogSource | None = None
    """The folder of its programs' logs; a test sets it before the start."""
    bgp_index: BgpIndexClient | None = None
    """The index that searches its BGP routes; a test sets it before ``start``."""

    def __init__(self, document: dict[str, Any] | None = None, upgrade_paths: Paths | None = None) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="mr-api-"))
        self.socket = self.directory / "agent.sock"
        self.dataplane = _ToyDataplane("linux", "delete", "create")
        self.routing = _ToyRouting("frr", "withdraw", "announce")
        self.arrival: Arrival | None = None
        """The interface through which the asker of a plan reaches the router."""
        self._document = DOCUMENT if document is None else document
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="agent", daemon=True)
        self._runner: web.AppRunner | None = None
        self._engine = Engine(
            (self.dataplane, self.routing),
            compile_toy,
            self.dataplane.capabilities,
            self.directory,
            patience=PATIENCE,
            interval_s=60,
            foretell=Foretelling(self.dataplane, self.routing, lambda *_: self.arrival),
        )
        self.client = AgentClient(self.socket, timeout_s=20)
        self.upgrade_service = UpgradeService()
        self._upgrade_paths = upgrade_paths or Paths(self.directory / "no image")

    health_period_s = 2.0

    def __enter__(self) -> RouterInMemory:
        self._thread.start()
        self.start()
        self.client.commit(self._document, CommitOptions(author="setup", comment="first"))
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._engine.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()
        self.client.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def start(self) -> None:
        """Serve."""
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(60)

    def stop(self) -> None:
        """Stop answering; committed revisions stay."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(20)

    def wait_sampled(self, samples: int = 1, timeout_s: float = 10.0) -> None:
        """Wait until the agent has this many samples of the counters."""
        deadline = time.monotonic() + timeout_s
        while len(self.client.counters_history(300)) < samples:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    async def _start(self) -> None:
        router = Router(
            self._engine,
            self.dataplane,
            self.routing,
            "nowhere",
            None,
            self.log_source,
            bgp_index=self.bgp_index,
        )
        upgrade = UpgradeApi(self._engine, self._upgrade_paths, self.upgrade_service)
        # A test that must not wait makes its own sample.
        self.watch = HealthWatch(router, EventLog(self.directory), period_s=self.health_period_s)
        serving = application(router, frozenset(), upgrade, self.watch)
        self._runner = web.AppRunner(serving, access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        await asyncio.to_thread(self._engine.start)
        await web.SockSite(self._runner, peers.listening_socket(self.socket, None, frozenset())).start()

    async def _stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self.socket.unlink(missing_ok=True)
