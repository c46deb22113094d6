"""The agent's questions to a data plane beyond observe, plan and apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol, TypeVar

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.dataplane.context import CompileContext
from appliance.dataplane.looking import KernelLooking, VppLooking
from appliance.dataplane.route_answer import RouteAnswer, VrfTable
from appliance.engine.backend import StepError
from appliance.state.acls import AclState
from appliance.state.control_plane import ControlPlaneState
from appliance.state.dataplane import DataplaneState
from appliance.state.hardware import Hardware
from appliance.state.health import PartHealth
from appliance.state.interfaces import InterfaceState
from appliance.state.neighbors import NeighborState

T = TypeVar("T")


class DataPlaneError(StepError):
    """The data plane refused or failed; the message says what was tried and why it did not work."""


class NamespaceMissing(DataPlaneError):
    """The data plane's network namespace does not exist."""


@dataclass(frozen=True)
class InterfaceCounters:
    """Totals since the interface was made; they only grow."""

    rx_packets: int = 0
    rx_bytes: int = 0
    tx_packets: int = 0
    tx_bytes: int = 0
    rx_drops: int = 0
    tx_drops: int = 0
    rx_errors: int = 0
    tx_errors: int = 0


@dataclass(frozen=True)
class RuleCounters:
    """Hits of one rule of an access list, over all interfaces it is bound to."""

    packets: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class WorkerLoad:
    """A forwarding thread: packets per turn of its loop, and the share of time it is busy (0 to 1)."""

    name: str
    vectors_per_call: float
    load: float


@dataclass(frozen=True)
class Counters:
    """The sample of each second: nothing in it grows with the number of rules."""

    interfaces: dict[str, InterfaceCounters] = field(default_factory=dict)
    workers: tuple[WorkerLoad, ...] = ()
    drops: dict[str, int] = field(default_factory=dict)
    """Packets dropped, by reason."""
    origins: dict[str, str] = field(default_factory=dict)
    """By interface, the object that counts: a different one counts from zero."""

    def to_json(self) -> dict[str, Any]:
        """The agent's sample, except for its time."""
        return {
            "interfaces": {name: vars(counters) for name, counters in self.interfaces.items()},
            "workers": [asdict(worker) for worker in self.workers],
            "drops": dict(self.drops),
            "origins": self.origins,
        }


@dataclass(frozen=True)
class Traffic:
    """Packets through the router, as totals that only grow."""

    arrived: Mapping[str, int]
    """By family, ``ipv4`` and ``ipv6``: packets that were not for the router itself."""
    forwarded: Mapping[str, int]
    """By family."""
    dropped: Mapping[str, int]
    """By reason, in words, as fresh as the rest."""
    interfaces: Mapping[str, InterfaceCounters] | None = None
    """The counters of interfaces; None where ``counters`` has to be asked for them."""


class DataPlane(Protocol):
    """The view of a data plane, in addition to its role as a backend of the transaction engine.

    Every method but ``capabilities``, ``health`` and ``close`` may raise BackendUnavailable; all are safe to
    call from any thread, and no commit waits for a method that reads.
    """

    @property
    def name(self) -> str:
        """As in plans and in health."""

    @property
    def kernel_forwards(self) -> bool:
        """Whether it forwards by the kernel's table."""

    def capabilities(self) -> Capabilities:
        """What this data plane can do on this machine; known without a query."""

    def compile_context(self) -> CompileContext:
        """The facts about the machine that compiling needs."""

    def look(self, *, vpp: Callable[[VppLooking], T], linux: Callable[[KernelLooking], T]) -> T:
        """The result of this plane's function of ``question``, for a feature's own part of the live state.

        It runs on the views' connection and in their thread.
        """

    def counters(self) -> dict[str, Any]:
        """``Counters.to_json`` of now."""

    def traffic(self) -> Traffic:
        """Packets through the router; the cost grows with the bound access lists, not with their rules."""

    def acl_hits(self) -> dict[str, dict[int, RuleCounters]]:
        """Hits as they are now, by access list and rule sequence."""

    def interfaces_state(self) -> Sequence[InterfaceState]:
        """Each interface."""

    def links(self) -> Mapping[str, bool]:
        """Existing interfaces, and whether they are up and have a link: one query for all."""

    def links_observed(self) -> Mapping[str, bool] | None:
        """The same as of the last observation, without a query; None where observing does not tell."""

    def fib(self, destinations: Sequence[str], vrf: VrfTable | None = None) -> Sequence[RouteAnswer]:
        """The entries it forwards by: for each prefix its own, for each address that of the longest match.

        The cost grows with the questions, not with the size of the table.
        """

    def kernel_routes(
        self, destinations: Sequence[str], vrf: VrfTable | None = None
    ) -> Sequence[RouteAnswer]:
        """The same for the kernel of the router's namespace."""

    def acl_state(self) -> Sequence[AclState]:
        """Each access list."""

    def size_state(self, config: RouterConfig) -> DataplaneState:
        """How it is sized for a document on this machine, and why. It asks nobody."""

    def control_plane_state(self) -> ControlPlaneState:
        """Packets for the router itself."""

    def neighbors(self) -> Sequence[NeighborState]:
        """Each ARP and ND entry."""

    def forget_neighbors(self, interface: str | None, address: str | None) -> int:
        """Forget learned ARP and ND entries: all, or those of an interface, an address or both.

        Returns how many there were. Active senders resolve them again.
        """

    def hardware(self) -> Hardware:
        """NICs, threads and memory."""

    def health(self) -> PartHealth:
        """Whether it works; never raises."""

    def close(self) -> None:
        """Release sockets and threads."""
