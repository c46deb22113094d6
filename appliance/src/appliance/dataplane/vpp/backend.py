"""VPP as a data plane."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.dataplane.base import DataPlaneError, NamespaceMissing, RuleCounters, Traffic
from appliance.dataplane.context import CompileContext
from appliance.dataplane.control_plane.guard import ControlPlaneGuard
from appliance.dataplane.kernel_need import lacking
from appliance.dataplane.kernel_view import forget_kernel_neighbors, link_supported
from appliance.dataplane.looking import KernelLooking, VppLooking
from appliance.dataplane.machine import Machine
from appliance.dataplane.namespace import Namespace
from appliance.dataplane.nic import Nic
from appliance.dataplane.nic_inventory import NicRecord
from appliance.dataplane.nic_inventory import read as read_inventory
from appliance.dataplane.nics import discover
from appliance.dataplane.route_answer import RouteAnswer, VrfTable
from appliance.dataplane.route_lookup import look_up
from appliance.dataplane.rtnetlink import NetlinkError
from appliance.dataplane.vpp import sizing, startup
from appliance.dataplane.vpp.carrying_out import VppSteps
from appliance.dataplane.vpp.feeder import FeederClient
from appliance.dataplane.vpp.kept_mirrors import KeptMirrors
from appliance.dataplane.vpp.mirror_namespace import MirrorNamespace
from appliance.dataplane.vpp.mirrors import take_down
from appliance.dataplane.vpp.plan import VppStep, plan
from appliance.dataplane.vpp.room import RouteRoom
from appliance.dataplane.vpp.size_state import size_state
from appliance.dataplane.vpp.startup import StartupSettings
from appliance.dataplane.vpp.state import VppDataplaneState
from appliance.dataplane.vpp.view import VppView
from appliance.engine.backend import Backend, BackendUnavailable, StepError
from appliance.errors import ValidationFailed
from appliance.features.registry import declared
from appliance.service_manager import ServiceManager
from appliance.state.acls import AclState
from appliance.state.control_plane import ControlPlaneState
from appliance.state.dataplane import DataplaneState
from appliance.state.hardware import Hardware, NicState
from appliance.state.health import PartHealth
from appliance.state.interfaces import InterfaceState
from appliance.state.neighbors import NeighborState
from vpp_config import Session, VppClient
from vpp_config.counters import Counters
from vpp_config.errors import StatsUnavailable, VppError, VppUnavailable
from vpp_config.papi_client import PapiClient

T = TypeVar("T")

_NIC_DRIVERS = ("auto", "native", "dpdk", "af_packet")


class VppDataplane(Backend[VppDataplaneState, VppDataplaneState, VppStep]):
    """VPP forwarding the NICs of ``nic_netns``, with a mirror of each interface in ``netns``.

    ``startup_conf`` is VPP's startup file, part of which the document decides; None leaves it to others. The
    ``feeder`` carries the routes; only tests have none. ``client`` stands for a VPP in tests, ``mirrors`` for
    the mirrors' namespace.
    """

    name = "vpp"
    label = "VPP"
    kernel_forwards = False

    def __init__(
        self,
        api_socket: Path,
        stats_socket: Path,
        startup_conf: Path | None,
        netns: str,
        nic_netns: str | None,
        services: ServiceManager | None = None,
        *,
        management: frozenset[str] = frozenset(),
        nic_inventory: Path | None = None,
        machine: Machine | None = None,
        dpdk: bool = True,
        feeder: FeederClient | None = None,
        client: VppClient | None = None,
        mirrors: MirrorNamespace | None = None,
    ) -> None:
        self._client: VppClient = client or PapiClient(str(api_socket))
        self._feeder = feeder
        self._session = Session(
            self._client,
            take_down_mirror=self._take_down_mirror if feeder is None else None,
            vacate_mirror=None if feeder is None else self._vacate_mirror,
        )
        self._counters = Counters(self._session, stats_socket)
        self._startup_conf = startup_conf
        self._netns = netns
        self._space = Namespace(netns)
        self._mirrors = mirrors or MirrorNamespace(self._space)
        self._nic_space = self._space if nic_netns == netns else Namespace(nic_netns)
        self._management = management
        self._nic_inventory = nic_inventory
        self._machine = machine
        self._nic_drivers = _NIC_DRIVERS if dpdk else tuple(name for name in _NIC_DRIVERS if name != "dpdk")
        self._sequences: dict[str, tuple[int, ...]] = {}
        # A view that reads a long table keeps neither this session nor this connection from a commit.
        self._view_client: VppClient = client or PapiClient(str(api_socket), name="millrace-view")
        self._view = VppView(self._view_client, self._session, self._counters)
        self._kept = KeptMirrors(self._space)
        self._steps = VppSteps(
            self._session,
            self._view,
            (self._client, self._view_client),
            self._space,
            self._mirrors,
            self._nic_space,
            self._kept,
            startup_conf=startup_conf,
            services=services,
            feeder=feeder,
        )
        self._views = Namespace(netns)
        self._nic_views = self._views if nic_netns == netns else Namespace(nic_netns)
        self._lacking: Mapping[str, str] | None = None
        self._counting = -1

    # The transaction engine's side.

    @property
    def generation(self) -> int:
        """Grows with each connection to VPP: a new one may find it empty."""
        return self._client.generation

    def observe(self) -> VppDataplaneState:
        """VPP's objects, its startup settings, and the mirrors' sysctls as they are."""
        with self._asking_room() as room, self._available():
            mirrors = self._space.begin(self._mirrors.observe)
            objects = self._session.observe()
            self._count_hits()
            kernel, control_plane, beside = mirrors.result()
            return VppDataplaneState(objects, self._startup(), kernel, control_plane, beside, room())

    def _asking_room(self) -> AbstractContextManager[Callable[[], RouteRoom | None]]:
        return nullcontext(lambda: None) if self._feeder is None else self._feeder.asking_room()

    def plan(self, desired: VppDataplaneState, observed: VppDataplaneState) -> Sequence[VppStep]:
        """Steps from observed to desired. Raises nothing that ``check`` would have found."""
        steps = plan(desired, observed, self._kept.shown)
        if not steps:
            self._sequences = desired.sequences
            if self._feeder is not None and desired.room is not None and observed.startup is not None:
                self._feeder.most_routes = desired.room.most
            if self._feeder is not None:
                self._kept.keep(desired.objects)
        return steps

    def apply(self, step: VppStep) -> None:
        """Apply the step. Raises StepError or BackendUnavailable."""
        with self._failing():
            self._steps.apply(step)

    def undo(self, step: VppStep) -> None:
        """Restore what the step changed. Raises StepError or BackendUnavailable."""
        with self._failing():
            self._steps.undo(step)

    def compile_context(self) -> CompileContext:
        """The NICs in VPP's namespace."""
        with self._available():
            return CompileContext(tuple(self._nics(self._nic_space)), self._netns, self._machine)

    # What can be looked at.

    def capabilities(self) -> Capabilities:
        """An interface that the kernel cannot make has no mirror."""
        if self._lacking is None:
            needs = declared("vpp", "NEEDS")
            try:
                can = partial(link_supported, self._space)
                self._lacking = self._space.run(lambda: lacking(needs, can))
            except NamespaceMissing:
                return self._can(lacking(needs, lambda _link: False))
        return self._can(self._lacking)

    def look(self, *, vpp: Callable[[VppLooking], T], linux: Callable[[KernelLooking], T]) -> T:  # noqa: ARG002 - the other plane's
        """The result of ``vpp``, on the views' connection."""
        with self._available():
            return vpp(self._view)

    def counters(self) -> dict[str, Any]:
        """VPP's own counters, from its shared memory."""
        with self._available():
            return self._view.counters()

    def traffic(self) -> Traffic:
        """VPP's counters by family, from its shared memory."""
        with self._available():
            return self._view.traffic()

    def acl_hits(self) -> dict[str, dict[int, RuleCounters]]:
        """Hits of each rule, including those from before its list was replaced or VPP restarted."""
        with self._available():
            return self._view.hits(self._sequences)

    def interfaces_state(self) -> list[InterfaceState]:
        """State of each interface, as VPP has it."""
        with self._available():
            rows = self._view.interfaces()
            notes = {record.device: record.note for record in self._records() if record.note is not None}
        return [
            row.model_copy(update={"note": notes.get(row.device or "")}) if row.driver == "af_packet" else row
            for row in rows
        ]

    def links(self) -> Mapping[str, bool]:
        """One dump of VPP's interfaces."""
        with self._available():
            return self._view.links()

    def links_observed(self) -> Mapping[str, bool] | None:
        """The last observation had the same dump."""
        return self._session.links or None

    def fib(self, destinations: Sequence[str], vrf: VrfTable | None = None) -> Sequence[RouteAnswer]:
        """VPP's FIB."""
        with self._available():
            return self._view.fib(destinations, 0 if vrf is None else vrf.number)

    def kernel_routes(
        self, destinations: Sequence[str], vrf: VrfTable | None = None
    ) -> Sequence[RouteAnswer]:
        """The kernel's table in the mirrors' namespace, which FRR fills beside VPP's FIB."""
        with self._available():
            return self._views.run(look_up, destinations, None if vrf is None else vrf.name)

    def acl_state(self) -> list[AclState]:
        """Access lists with hits and where they are bound."""
        with self._available():
            return self._view.acls(self._sequences)

    def control_plane_state(self) -> ControlPlaneState:
        """Packets for the router itself: VPP's limits first, then what the mirrors' namespace lets in."""
        with self._available():
            guarded = self._views.run(ControlPlaneGuard().state)
            return guarded.model_copy(update={"policers": self._view.policers()})

    def size_state(self, config: RouterConfig) -> DataplaneState:
        """Sizes that follow from document and machine, and those of VPP's startup file."""
        try:
            return size_state(config, self._machine, self._startup())
        except ValidationFailed as error:
            raise BackendUnavailable(self.name, str(error)) from error

    def neighbors(self) -> list[NeighborState]:
        """VPP's ARP and ND tables."""
        with self._available():
            return self._view.neighbors()

    def forget_neighbors(self, interface: str | None, address: str | None) -> int:
        """From VPP's ARP and ND tables, and first from the mirrors', from which linux-nl fills them."""
        with self._available():
            known = {(entry.interface, entry.address) for entry in self._view.neighbors()}
            self._views.run(forget_kernel_neighbors, self._views, interface, address)
            self._view.forget_neighbors(interface, address)
            kept = {(entry.interface, entry.address) for entry in self._view.neighbors()}
            return len(known - kept)

    def hardware(self) -> Hardware:
        """NICs, threads, memory and VPP's version."""
        with self._available():
            return self._view.hardware([NicState(**vars(nic)) for nic in self._nics(self._nic_views)])

    def health(self) -> PartHealth:
        """Up while VPP answers."""
        try:
            version = self._view.version()
        except VppError as error:
            return PartHealth(state="down", detail=str(error), label=self.label)
        return PartHealth(state="up", detail=f"VPP {version} answers", label=self.label, version=version)

    def close(self) -> None:
        """Release sockets and threads."""
        self._counters.close()
        self._client.close()
        self._view_client.close()
        self._views.close()
        self._kept.release()
        if self._nic_views is not self._views:
            self._nic_views.close()
        self._space.close()
        if self._nic_space is not self._space:
            self._nic_space.close()

    # Inside.

    @contextmanager
    def _available(self) -> Iterator[None]:
        try:
            yield
        except (VppError, DataPlaneError) as error:
            raise BackendUnavailable(self.name, str(error)) from error

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except (VppUnavailable, NamespaceMissing) as error:
            raise BackendUnavailable(self.name, str(error)) from error
        except VppError as error:
            raise StepError(str(error)) from error

    def _take_down_mirror(self, netns: str, name: str) -> bool:
        try:
            return netns == self._netns and self._space.run(take_down, self._space, name)
        except NetlinkError as error:
            raise StepError(f"Linux does not take the mirror {name} down: {error}") from error

    def _vacate_mirror(self, netns: str, name: str) -> AbstractContextManager[None]:
        """Mirrors in another namespace have no routes from the feeder."""
        if self._feeder is None or netns != self._netns:
            return nullcontext()
        return self._feeder.vacated(name)

    def _nics(self, space: Namespace) -> list[Nic]:
        return discover([space], self._management, self._nic_inventory)

    def _can(self, lacks: Mapping[str, str]) -> Capabilities:
        sizes = sizing.most(self._machine, ours=self._startup_conf is not None)
        return Capabilities("vpp", lacks, self._nic_drivers, **sizes)

    def _records(self) -> tuple[NicRecord, ...]:
        return read_inventory(self._nic_inventory) if self._nic_inventory is not None else ()

    def _count_hits(self) -> None:
        """The first look at a VPP makes it count the hits of access lists, which it does not by itself."""
        if self._counting != self._client.generation:
            # Without a stats segment the hits cannot be read either.
            with suppress(StatsUnavailable):
                self._counters.hits()
            self._counting = self._client.generation

    def _startup(self) -> StartupSettings | None:
        if self._startup_conf is None:
            return None
        try:
            return startup.read(self._startup_conf.read_text())
        except (OSError, ValueError) as error:
            raise BackendUnavailable(self.name, f"cannot read {self._startup_conf}: {error}") from error
