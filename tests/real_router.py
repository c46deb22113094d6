"""The engine over real backends: FRR and the kernel, or FRR and VPP, in namespaces of the test's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from appliance.agent.wiring import capabilities
from appliance.compile import compile_document
from appliance.config.document import RouterConfig
from appliance.dataplane.base import DataPlane
from appliance.dataplane.linux.backend import LinuxDataplane
from appliance.dataplane.nic import Nic
from appliance.engine.backend import SomeBackend
from appliance.engine.clock import Clock
from appliance.engine.engine import Engine
from appliance.engine.live import StepHook
from appliance.host import HostBackend
from appliance.routing.frr import FrrBackend
from tests.fib_feeder import Feeder
from tests.integration.frr.harness import FrrHarness, ip
from tests.integration.vpp.harness import PrivateVpp

NICS = 3


@dataclass(frozen=True)
class RealRouter:
    """Backends that a test may put any number of engines over, one after another."""

    dataplane: DataPlane
    routing: FrrBackend
    backends: tuple[SomeBackend, ...]
    state_dir: Path
    vpp: PrivateVpp | None = None

    @property
    def nics(self) -> tuple[Nic, ...]:
        """The router's NICs."""
        return self.dataplane.compile_context().nics

    def observe(self) -> dict[str, Any]:
        """What each backend sees now."""
        return {backend.name: backend.observe() for backend in self.backends}

    def engine(self, step_hook: StepHook | None = None, *, clock: Clock | None = None) -> Engine:
        """An engine that does nothing on its own: the test is the clock; ``clock`` tells it the time."""
        driver = cast(Any, self.dataplane.name)

        def compiled(config: RouterConfig) -> dict[str, Any]:
            return compile_document(config, driver, self.dataplane.compile_context())

        able = partial(capabilities, self.dataplane, self.routing)
        return Engine(self.backends, compiled, able, self.state_dir, step_hook=step_hook, clock=clock)


@contextmanager
def real_routers(kind: str, directory: Path) -> Iterator[Callable[[Path], RealRouter]]:
    """Makes routers over one set of real daemons, each with a state directory of its own.

    ``kind`` is ``linux`` or ``vpp``, where a feeder carries the routes; ``directory`` takes what FRR reads.
    Ends the daemons on leaving.
    """
    with ExitStack() as stack:
        feeds, vpp = kind == "vpp", None
        if feeds:
            vpp = stack.enter_context(PrivateVpp(nics=NICS, without_plugins=("linux_nl",)))
            netns = vpp.mirror_namespace
            from appliance.dataplane.vpp.backend import VppDataplane
            from appliance.dataplane.vpp.feeder import FeederClient

            process = stack.enter_context(Feeder(netns, vpp.directory, vpp.api_socket))
            feeder = FeederClient(process.status_socket)
            dataplane: VppDataplane | LinuxDataplane = VppDataplane(
                vpp.api_socket, vpp.stats_socket, None, netns, vpp.namespace, feeder=feeder
            )
        else:
            netns = f"ew{os.getpid() % 100000}"
            stack.callback(ip, "netns", "delete", netns, check=False)
            ip("netns", "add", netns)
            ip("-n", netns, "link", "set", "lo", "up")
            for number in range(NICS):
                ip("-n", netns, "link", "add", f"nic{number}", "type", "veth", "peer", "name", f"far{number}")
                ip("-n", netns, "link", "set", f"far{number}", "up")
            dataplane = LinuxDataplane(netns, netns)
        frr = stack.enter_context(FrrHarness(netns, netns, feeds=feeds))
        routing = FrrBackend(netns, frr.vty_dir, directory, feeds=feeds)

        def make(state: Path) -> RealRouter:
            host = HostBackend(state / "host")
            return RealRouter(dataplane, routing, (dataplane, routing, host), state / "agent", vpp)

        yield make
