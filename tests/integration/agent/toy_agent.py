"""An agent whose router is a file: it survives the agent's death, as a real router does.

``python -m tests.integration.agent.toy_agent --config FILE --router FILE [--step-s SECONDS]``
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from appliance.agent import logfmt
from appliance.agent.router import Router
from appliance.agent.service import alone, serve
from appliance.agent.settings import load
from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.dataplane.base import RuleCounters, Traffic
from appliance.dataplane.context import CompileContext
from appliance.dataplane.route_answer import Entry, NextHop, RouteAnswer, VrfTable
from appliance.engine.backend import BackendUnavailable
from appliance.engine.engine import Engine
from appliance.errors import NotFound
from appliance.routing.known_addresses import Address
from appliance.routing.rows import Family, RibRow
from appliance.state.acls import AclState
from appliance.state.bgp import BgpNeighborDetail, BgpState
from appliance.state.control_plane import ControlPlaneState
from appliance.state.dataplane import DataplaneState
from appliance.state.hardware import Hardware
from appliance.state.health import PartHealth
from appliance.state.interfaces import InterfaceState
from appliance.state.neighbors import NeighborState
from appliance.state.ospf import OspfState
from appliance.state.routes import RibHop, RouteCount
from frr_config import Operation
from tests.unit.engine.toys import PATIENCE, Toy, ToyStep, compile_toy

if TYPE_CHECKING:
    from appliance.dataplane.looking import KernelLooking, VppLooking
    from frr_config import State

T = TypeVar("T")


class FileToy(Toy):
    """A toy whose state is in a file."""

    def __init__(self, name: str, down: str, up: str, path: Path, step_s: float) -> None:
        self._path, self._step_s = path, step_s
        self._away = path.with_suffix(".down")
        super().__init__(name, down, up)

    @property
    def up(self) -> bool:
        """Down while there is a file that says so."""
        return not self._away.exists()

    @up.setter
    def up(self, up: bool) -> None:
        assert up

    def observe(self) -> dict[str, str]:
        self.state = json.loads(self._path.read_text()) if self._path.exists() else {}
        return super().observe()

    def apply(self, step: ToyStep) -> None:
        time.sleep(self._step_s)
        super().apply(step)
        self._write()

    def undo(self, step: ToyStep) -> None:
        super().undo(step)
        self._write()

    def _write(self) -> None:
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(self.state))
        new.rename(self._path)


class ToyPlane(FileToy):
    """The data plane's views on a toy."""

    def __init__(self, path: Path, step_s: float) -> None:
        super().__init__("linux", "delete", "create", path, step_s)

    kernel_forwards = True

    def look(self, *, vpp: Callable[[VppLooking], T], linux: Callable[[KernelLooking], T]) -> T:
        raise BackendUnavailable(self.name, "is a file")

    def capabilities(self) -> Capabilities:
        return Capabilities(driver="linux")

    def compile_context(self) -> CompileContext:
        return CompileContext()

    def counters(self) -> dict[str, Any]:
        interfaces = {key.split()[1]: {"rx_packets": 7} for key in self.state if key.startswith("interface ")}
        return {"interfaces": interfaces, "workers": [], "drops": {}}

    def traffic(self) -> Traffic:
        return Traffic({}, {}, {})

    def acl_hits(self) -> dict[str, dict[int, RuleCounters]]:
        return {}

    def interfaces_state(self) -> list[InterfaceState]:
        return [
            InterfaceState(name=key.split()[1], type="loopback", enabled=True, link="up", mtu=1500)
            for key in self.state
            if key.startswith("interface ")
        ]

    def links(self) -> Mapping[str, bool]:
        return {row.name: True for row in self.interfaces_state()}

    def links_observed(self) -> None:
        return None

    def fib(self, destinations: Sequence[str], vrf: VrfTable | None = None) -> Sequence[RouteAnswer]:
        return self.kernel_routes(destinations)

    def kernel_routes(
        self, destinations: Sequence[str], vrf: VrfTable | None = None
    ) -> Sequence[RouteAnswer]:
        known = Entry("198.51.100.0/24", "unicast", (NextHop("192.0.2.2", "lo1", 1),))
        return [known if destination == known.prefix else None for destination in destinations]

    def size_state(self, config: RouterConfig) -> DataplaneState:
        return DataplaneState(driver="linux")

    def control_plane_state(self) -> ControlPlaneState:
        return ControlPlaneState(interfaces=(), policers=())

    def acl_state(self) -> list[AclState]:
        return []

    def neighbors(self) -> list[NeighborState]:
        return []

    def forget_neighbors(self, interface: str | None, address: str | None) -> int:
        return 0

    def hardware(self) -> Hardware:
        return Hardware(driver=self.name)

    def health(self) -> PartHealth:
        return PartHealth(state="up", detail="a file")

    def close(self) -> None:
        pass


class ToyRouting:
    """The routing daemons' views."""

    name = "frr"

    def ask(self, question: Callable[[State], T]) -> T:
        raise BackendUnavailable(self.name, "is a file")

    def in_vrf(self, vrf: str) -> ToyRouting:
        if vrf:
            raise BackendUnavailable(self.name, "has no VRFs")
        return self

    def operate(self, operation: Operation) -> None:
        raise BackendUnavailable(self.name, "is a file")

    def rib_entry(self, destination: str) -> Sequence[RibRow]:
        return [row for row in self._rows() if row.prefix == destination]

    def interfaces_known(self, closely: Iterable[str] = ()) -> dict[str, Any]:
        return {}

    def tell_addresses(self, addresses: Iterable[Address]) -> None:
        raise AssertionError(f"nothing is unknown: {addresses}")

    def rib_counts(self, family: Family) -> Mapping[str, RouteCount]:
        return {"static": RouteCount(rib=2, fib=1)} if family == "ipv4" else {}

    def rib_list(self, family: Family, protocol: str | None, most: int) -> Sequence[RibRow] | None:
        return self._rows()

    def _rows(self) -> list[RibRow]:
        hops = (RibHop(address="192.0.2.2", interface="lo1", active=True),)
        return [RibRow(known, "static", hops, distance=1) for known in ("198.51.100.0/24", "203.0.113.0/24")]

    def bgp_state(self) -> BgpState:
        return BgpState()

    def bgp_neighbor(self, address: str) -> BgpNeighborDetail:
        raise NotFound(f"there is no BGP neighbor {address}")

    def ospf_state(self) -> OspfState:
        return OspfState()

    def health(self) -> PartHealth:
        return PartHealth(state="up", detail="a file")

    def close(self) -> None:
        pass


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--router", type=Path, required=True)
    parser.add_argument("--step-s", type=float, default=0.0)
    given = parser.parse_args()
    logfmt.configure()
    settings = load(given.config)
    plane = ToyPlane(given.router / "plane.json", given.step_s)
    routing = FileToy("frr", "withdraw", "announce", given.router / "routing.json", given.step_s)
    engine = Engine(
        (plane, routing),
        compile_toy,
        plane.capabilities,
        settings.state_dir,
        patience=PATIENCE,
        interval_s=settings.reconcile_interval_s,
    )
    with alone(settings.state_dir):
        asyncio.run(serve(Router(engine, plane, ToyRouting(), "toy"), settings))


if __name__ == "__main__":
    main()
