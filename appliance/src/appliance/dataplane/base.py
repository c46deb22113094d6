"""What the agent asks of a data plane beyond observe, plan and apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from appliance.config.capabilities import Capabilities
from appliance.dataplane.context import CompileContext
from appliance.dataplane.route_answer import RouteAnswer
from appliance.engine.backend import Backend, StepError


class DataPlaneError(StepError):
    """The data plane refused or failed; the message says what was tried and why it did not work."""


class NamespaceMissing(DataPlaneError):
    """The data plane's network namespace does not exist."""


@dataclass(frozen=True)
class InterfaceState:
    """An interface of the document as it is now."""

    name: str
    type: str
    enabled: bool
    link: Literal["up", "down"]
    mac: str | None
    mtu: int
    """Bytes of the largest IP packet."""
    addresses: tuple[str, ...]
    speed_bps: int | None = None
    parent: str | None = None
    vlan_id: int | None = None
    driver: str | None = None
    """How the NIC is driven."""
    device: str | None = None
    """The NIC's own name."""
    note: str | None = None
    """Why the NIC is slower than it could be."""


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
    """What is sampled each second: nothing in it grows with the number of rules."""

    interfaces: dict[str, InterfaceCounters] = field(default_factory=dict)
    workers: tuple[WorkerLoad, ...] = ()
    drops: dict[str, int] = field(default_factory=dict)
    """Packets dropped, by reason."""

    def to_json(self) -> dict[str, Any]:
        """The agent's sample, but for its time."""
        return {
            "interfaces": {name: vars(counters) for name, counters in self.interfaces.items()},
            "workers": [asdict(worker) for worker in self.workers],
            "drops": dict(self.drops),
        }


class DataPlane(Backend, Protocol):
    """A data plane: a backend of the transaction engine that can also be looked at.

    Every method but ``capabilities``, ``health`` and ``close`` may raise BackendUnavailable; all are safe to
    call from any thread. Rows are JSON-able.
    """

    def capabilities(self) -> Capabilities:
        """What this data plane can do on this machine; known without asking it."""
        ...

    def compile_context(self) -> CompileContext:
        """What compiling needs to know of the machine."""
        ...

    def counters(self) -> dict[str, Any]:
        """``Counters.to_json`` of now."""
        ...

    def acl_hits(self) -> dict[str, dict[int, RuleCounters]]:
        """Hits as they are now, by access list and rule sequence."""
        ...

    def interfaces_state(self) -> list[dict[str, Any]]:
        """``InterfaceState`` of each interface."""
        ...

    def fib(self, destinations: Sequence[str]) -> Sequence[RouteAnswer]:
        """What it forwards by: for each prefix its own entry, for each address that of the longest match.

        The cost is that of the questions, whatever the size of the table. No commit waits for it.
        """
        ...

    def kernel_routes(self, destinations: Sequence[str]) -> Sequence[RouteAnswer]:
        """The same of the kernel in the router's namespace."""
        ...

    def acl_state(self) -> list[dict[str, Any]]:
        """``name, rules[sequence, packets, bytes], bindings[interface, direction]`` of each access list."""
        ...

    def control_plane_state(self) -> dict[str, Any]:
        """Packets for the router itself: ``interfaces``, each with ``interface``, and ``accepted`` and
        ``dropped`` by reason; ``policers``, each with ``family``, ``rate_pps``, ``passed`` and ``dropped``.
        """
        ...

    def neighbors(self) -> list[dict[str, Any]]:
        """``interface, address, mac, state`` of each ARP and ND entry."""
        ...

    def hardware(self) -> dict[str, Any]:
        """NICs, threads and memory."""
        ...

    def health(self) -> dict[str, Any]:
        """``state`` up or down and ``detail``, a sentence; never raises."""
        ...

    def close(self) -> None:
        """Let go of sockets and threads."""
        ...
