"""The real backends on a VPP and an FRR in memory: everything of the router except its processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, cast

from appliance.agent.wiring import capabilities
from appliance.compile import compile_document
from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.dataplane.context import CompileContext
from appliance.dataplane.control_plane import policy
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.linux.state import KernelSettings, LinuxState
from appliance.dataplane.linux.sysctl import MIRRORS
from appliance.dataplane.nic import Nic
from appliance.dataplane.vpp.backend import VppDataplane
from appliance.engine.engine import Engine
from appliance.engine.live import StepHook
from appliance.engine.transaction import Patience
from appliance.host import HostBackend
from appliance.routing import FrrBackend
from frr_config import FakeFrr
from vpp_config.fake import FakeVpp

NICS = tuple(Nic(f"nic{number}", f"02:4d:52:00:01:0{number}", None, "veth") for number in range(3))
NOWHERE = Path("/nowhere")


class NamespaceInMemory:
    """The mirrors' namespace without a kernel: settings, the router's own packet filter, VRFs."""

    def __init__(self) -> None:
        self._settings = KernelSettings(tuple((name, "0") for name, _ in MIRRORS), False)
        self._control_plane: ControlPlane | None = None
        self._objects: dict[str, Any] = {}

    def observe(self) -> tuple[KernelSettings, ControlPlane | None, LinuxState]:
        return self.settings(), self.control_plane(), self.objects()

    def settings(self) -> KernelSettings:
        return self._settings

    def control_plane(self) -> ControlPlane | None:
        return self._control_plane

    def objects(self) -> LinuxState:
        return LinuxState(self._objects)

    def change(self, key: str, before: Any, after: Any) -> None:
        if key == policy.KEY:
            self._control_plane = after
        elif key == self._settings.key:
            self._settings = after
        elif after is None:
            self._objects.pop(key, None)
        else:
            self._objects[key] = after


def _done(work: Callable[..., Any], *arguments: Any) -> Future[Any]:
    future: Future[Any] = Future()
    try:
        future.set_result(work(*arguments))
    except Exception as error:
        future.set_exception(error)
    return future


class FakePlane(VppDataplane):
    """VPP's backend without namespaces: what is set in the mirrors' one is kept in memory, too.

    Nothing of it may reach the kernel: it would be that of the machine the tests run on.
    """

    def __init__(self, vpp: FakeVpp) -> None:
        super().__init__(
            NOWHERE, NOWHERE, None, "dataplane", None, client=vpp, mirrors=cast(Any, NamespaceInMemory())
        )
        # What is to run inside stays in this namespace.
        self._space.begin = _done  # type: ignore[assignment, method-assign]

    def compile_context(self) -> CompileContext:
        return CompileContext(NICS, "dataplane")

    def capabilities(self) -> Capabilities:
        return Capabilities("vpp")


class FakeRouter:
    """VPP, FRR and the host's files, which outlive any engine over them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.vpp, self.frr = FakeVpp(), FakeFrr()
        self.plane = FakePlane(self.vpp)
        self.routing = FrrBackend("none", NOWHERE, NOWHERE, client=self.frr)
        self.backends = (
            self.plane,
            self.routing,
            HostBackend(directory / "host"),
        )

    def live(self) -> dict[str, Any]:
        """What all backends see."""
        return {backend.name: backend.observe() for backend in self.backends}

    def compile(self, config: RouterConfig) -> Mapping[str, Any]:
        """Desired state."""
        return compile_document(config, "vpp", self.plane.compile_context())

    def capabilities(self) -> Capabilities:
        """What data plane and FRR together can do, as the agent has it."""
        return capabilities(self.plane, self.routing)

    def engine(self, hook: StepHook | None = None) -> Engine:
        """An engine on this router, as after a start of the agent; not yet recovered."""
        return Engine(
            self.backends,
            self.compile,
            self.capabilities,
            self.directory / "state",
            step_hook=hook,
            patience=Patience(settle_s=0.2, restart_s=0.5),
        )
