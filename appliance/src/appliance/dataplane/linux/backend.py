"""The kernel as a data plane."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.dataplane.base import (
    Counters,
    DataPlaneError,
    InterfaceCounters,
    NamespaceMissing,
    RuleCounters,
    Traffic,
)
from appliance.dataplane.context import CompileContext
from appliance.dataplane.kernel_need import lacking
from appliance.dataplane.kernel_traffic import kernel_traffic
from appliance.dataplane.kernel_view import forget_kernel_neighbors, kernel_neighbors, link_supported
from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.default_drops import default_drops
from appliance.dataplane.linux.dump import Dump, LinkRow
from appliance.dataplane.linux.filters import MAX_REFLECTING
from appliance.dataplane.linux.objects import KINDS, LINKS, Link, LinkAddress, LinuxObject
from appliance.dataplane.linux.plan import plan
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.looking import KernelLooking, VppLooking
from appliance.dataplane.namespace import Namespace, attributes, read_sysctl
from appliance.dataplane.nic import Nic
from appliance.dataplane.nics import discover, move
from appliance.dataplane.object_step import ObjectStep
from appliance.dataplane.route_answer import RouteAnswer, VrfTable
from appliance.dataplane.route_lookup import look_up
from appliance.engine.backend import Backend, BackendUnavailable
from appliance.engine.clock import SystemClock
from appliance.features.registry import declared
from appliance.state.acls import AclBindingState, AclRuleState, AclState
from appliance.state.control_plane import ControlPlaneState
from appliance.state.dataplane import DataplaneState
from appliance.state.hardware import Hardware, NicState
from appliance.state.health import PartHealth
from appliance.state.interfaces import InterfaceState
from appliance.state.neighbors import NeighborState

T = TypeVar("T")
_LOWER_UP = 0x10000
_COLONS_OF_A_MAC = 5
DROPS_EVERY_S = 10.0
"""How often the drops are counted: that makes nft list every rule."""


class LinuxDataplane(Backend[LinuxState, LinuxState, ObjectStep]):
    """Kernel forwarding in namespace ``netns``; NICs are taken from ``nic_netns`` and given back to it.

    None is the namespace of this process. ``management`` names devices that are never data interfaces.
    """

    name = "linux"
    label = "Linux"
    kernel_forwards = True

    def __init__(
        self,
        netns: str,
        nic_netns: str | None = None,
        management: frozenset[str] = frozenset(),
        nic_inventory: Path | None = None,
    ) -> None:
        self._netns = netns
        self._space = Namespace(netns)
        self._nic_space = self._space if nic_netns == netns else Namespace(nic_netns)
        self._management = management
        self._nic_inventory = nic_inventory
        self._kernel = self._access(self._space)
        self._views = Namespace(netns)
        """Observes the same namespace from a thread of its own: no commit waits for a view."""
        self._nic_views = self._views if nic_netns == netns else Namespace(nic_netns)
        self._seen = self._access(self._views)
        self._counting = Namespace(netns)
        self._counted = self._access(self._counting)
        self._watched = Namespace(netns)
        self._capabilities: Capabilities | None = None
        self._guard = threading.Lock()
        self._drops, self._drops_at_s = 0, -DROPS_EVERY_S
        self._boot = SystemClock().boot_id

    # The transaction engine's side.

    def observe(self) -> LinuxState:
        """Our links, addresses, access lists and sysctls as they are."""
        with self._available():
            return self._inside(self._observe)

    def plan(self, desired: LinuxState, observed: LinuxState) -> Sequence[ObjectStep]:
        """Steps from observed to desired. Pure."""
        return plan(desired, observed)

    def apply(self, step: ObjectStep) -> None:
        """Apply the step. Raises StepError."""
        self._change(step.before, step.after)

    def undo(self, step: ObjectStep) -> None:
        """Restore the step's object. Raises StepError."""
        self._change(step.after, step.before)

    def compile_context(self) -> CompileContext:
        """The NICs in both namespaces."""
        with self._available():
            return CompileContext(tuple(self._nics(self._space, self._nic_space)), self._netns)

    # What can be looked at.

    def capabilities(self) -> Capabilities:
        """Sub-interfaces need 802.1Q in the kernel; the rest is always there."""
        if self._capabilities is None:
            needs = declared("linux", "NEEDS")
            try:
                found = self._inside(lambda: lacking(needs, partial(link_supported, self._space)))
            except NamespaceMissing:
                return _capabilities(lacking(needs, lambda _link: False))
            self._capabilities = _capabilities(found)
        return self._capabilities

    def look(self, *, vpp: Callable[[VppLooking], T], linux: Callable[[KernelLooking], T]) -> T:  # noqa: ARG002 - the other plane's
        """The result of ``linux``, run in the views' thread inside the namespace."""
        with self._available():
            return self._views.run(linux, self._seen)

    def counters(self) -> dict[str, Any]:
        """Interface statistics, and drops; those that no rule matched as of the last reading of the rules."""
        with self._available():
            if time.monotonic() - self._drops_at_s >= DROPS_EVERY_S:
                self._counting.run(self._read_hits, self._counted)
            rows, traffic = self._counting.run(lambda: (Dump(self._counted).ours, kernel_traffic({})))
        interfaces = {row.name: _counters(row.message) for row in rows.values()}
        origins = {row.name: f"{self._boot} {row.index}" for row in rows.values()}
        drops = {"no access list rule matched": self._drops, **traffic.dropped}
        return Counters(interfaces, drops=drops, origins=origins).to_json()

    def traffic(self) -> Traffic:
        """The namespace's IP counters, and the packets that no rule of a bound access list matched."""
        with self._available():
            return self._watched.run(lambda: kernel_traffic(default_drops()))

    def acl_hits(self) -> dict[str, dict[int, RuleCounters]]:
        """Hits of each rule; one query of the kernel for all of them."""
        with self._available():
            return self._views.run(self._read_hits, self._seen)

    def interfaces_state(self) -> list[InterfaceState]:
        """State of each interface."""
        with self._available():
            return self._views.run(self._links_state, self._seen)

    def links(self) -> Mapping[str, bool]:
        """One dump of the namespace's links."""
        with self._available():
            return self._views.run(self._links, self._seen)

    def links_observed(self) -> None:
        """An observation tells how links are set, not whether they have a link."""

    def fib(self, destinations: Sequence[str], vrf: VrfTable | None = None) -> Sequence[RouteAnswer]:
        """The kernel's table, by which it forwards."""
        return self.kernel_routes(destinations, vrf)

    def kernel_routes(
        self, destinations: Sequence[str], vrf: VrfTable | None = None
    ) -> Sequence[RouteAnswer]:
        """The answers of the namespace's kernel."""
        with self._available():
            return self._views.run(look_up, destinations, None if vrf is None else vrf.name)

    def acl_state(self) -> list[AclState]:
        """Access lists with hits and where they are bound."""
        with self._available():
            hits, ruleset = self._views.run(
                lambda: (self._read_hits(self._seen), self._seen.filters.ruleset())
            )
        bound: dict[str, list[AclBindingState]] = {}
        for binding in ruleset.bindings.values():
            for name in binding.inbound:
                bound.setdefault(name, []).append(
                    AclBindingState(interface=binding.interface, direction="in")
                )
            for name in binding.outbound:
                bound.setdefault(name, []).append(
                    AclBindingState(interface=binding.interface, direction="out")
                )
        return [
            AclState(
                name=name,
                rules=tuple(
                    AclRuleState(sequence=sequence, packets=count.packets, bytes=count.bytes)
                    for sequence, count in sorted(rules.items())
                ),
                bindings=tuple(bound.get(name, ())),
            )
            for name, rules in sorted(hits.items())
        ]

    def size_state(self, config: RouterConfig) -> DataplaneState:  # noqa: ARG002 - the protocol's signature
        """The kernel takes memory as it needs it."""
        return DataplaneState(
            driver="linux", reason="The kernel forwards, and takes memory as routes need it."
        )

    def control_plane_state(self) -> ControlPlaneState:
        """Packets for the router itself, accepted and dropped."""
        with self._available():
            state = self._views.run(self._seen.control_plane.state)
        return state.model_copy(
            update={"untold": {"policers": "only VPP limits packets before they are counted here"}}
        )

    def neighbors(self) -> list[NeighborState]:
        """The kernel's ARP and ND tables."""
        with self._available():
            return self._views.run(kernel_neighbors, self._views)

    def forget_neighbors(self, interface: str | None, address: str | None) -> int:
        """Of the kernel's ARP and ND tables."""
        with self._available():
            return self._views.run(forget_kernel_neighbors, self._views, interface, address)

    def hardware(self) -> Hardware:
        """The NICs."""
        with self._available():
            nics = self._nics(self._views, self._nic_views)
        why = "the kernel forwards here, and has no threads or heaps of its own for it"
        return Hardware(
            driver=self.name,
            nics=tuple(NicState(**vars(nic)) for nic in nics),
            untold={"version": why, "workers": why, "memory": why},
        )

    def health(self) -> PartHealth:
        """Up while the namespace exists and its kernel forwards."""
        try:
            forwarding = self._views.run(read_sysctl, "net/ipv4/ip_forward")
        except DataPlaneError as error:
            return PartHealth(state="down", detail=str(error), label=self.label)
        works = forwarding == "1"
        detail = "the kernel forwards" if works else "forwarding is off"
        return PartHealth(
            state="up" if works else "down", detail=f"{detail} in namespace {self._netns}", label=self.label
        )

    def close(self) -> None:
        """Release threads and sockets."""
        views = {self._views, self._nic_views, self._counting, self._watched}
        for space in views | {self._space, self._nic_space}:
            space.close()

    # Inside.

    def _nics(self, *spaces: Namespace) -> list[Nic]:
        return discover(dict.fromkeys(spaces), self._management, self._nic_inventory)

    def _inside(self, work: Callable[..., T], *arguments: Any) -> T:
        return self._space.run(work, *arguments)

    @contextmanager
    def _available(self) -> Iterator[None]:
        try:
            yield
        except DataPlaneError as error:
            raise BackendUnavailable(self.name, str(error)) from error

    def _access(self, space: Namespace) -> Access:
        return Access(space, self._take, self._give_back)

    def _read_hits(self, kernel: Access) -> dict[str, dict[int, RuleCounters]]:
        hits, self._drops = kernel.filters.hits()
        self._drops_at_s = time.monotonic()
        return hits

    def _observe(self) -> LinuxState:
        dump = Dump(self._kernel)
        return LinuxState.of(item for kind in KINDS for item in kind.observe(dump))

    @staticmethod
    def _links_state(kernel: Access) -> list[InterfaceState]:
        dump = Dump(kernel)
        addresses: dict[str, list[str]] = {}
        for address in LinkAddress.observe(dump):
            addresses.setdefault(address.interface, []).append(address.address)
        rows = {row.name: row for row in dump.ours.values()}
        links = [link for kind in LINKS for link in kind.observe(dump)]
        return [_state(link, rows[link.name], tuple(addresses.get(link.name, ()))) for link in links]

    @staticmethod
    def _links(kernel: Access) -> dict[str, bool]:
        return {row.name: _has_link(row) for row in Dump(kernel).ours.values()}

    def _change(self, before: LinuxObject | None, after: LinuxObject | None) -> None:
        with self._guard:
            try:
                self._inside(self._transition, before, after)
            except NamespaceMissing as error:
                raise BackendUnavailable(self.name, str(error)) from error

    def _transition(self, before: LinuxObject | None, after: LinuxObject | None) -> None:
        if after is None:
            if before is not None:
                before.delete(self._kernel)
        elif before is None:
            after.create(self._kernel)
        else:
            after.update(before, self._kernel)

    def _take(self, device: str) -> None:
        if self._nic_space is not self._space:
            move(self._nic_space, device, self._netns)

    def _give_back(self, device: str) -> None:
        if self._nic_space is not self._space:
            move(self._space, device, self._nic_space.name)


def _capabilities(lacks: Mapping[str, str]) -> Capabilities:
    return Capabilities(
        "linux",
        lacking=lacks,
        nic_drivers=("auto",),
        max_reflecting_interfaces=MAX_REFLECTING,
        max_workers=0,
    )


def _counters(message: Any) -> InterfaceCounters:
    totals = attributes(message).get("IFLA_STATS64") or {}
    return InterfaceCounters(
        **{name: int(totals.get(name, 0)) for name in ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")},
        rx_drops=int(totals.get("rx_dropped", 0)),
        tx_drops=int(totals.get("tx_dropped", 0)),
        rx_errors=int(totals.get("rx_errors", 0)),
        tx_errors=int(totals.get("tx_errors", 0)),
    )


def _has_link(row: LinkRow) -> bool:
    return bool(row.up and row.message["flags"] & _LOWER_UP)


def _state(link: Link, row: LinkRow, addresses: tuple[str, ...]) -> InterfaceState:
    parent, vlan_id = link.parent_and_vlan
    address = str(row.known.get("IFLA_ADDRESS"))  # of a tunnel: where it begins
    return InterfaceState(
        name=link.name,
        type=link.type,
        enabled=link.enabled,
        link="up" if _has_link(row) else "down",
        mac=address if address.count(":") == _COLONS_OF_A_MAC else None,
        mtu=row.mtu,
        addresses=addresses,
        parent=parent,
        vlan_id=vlan_id,
        driver="kernel" if link.nic is not None else None,
        device=link.nic,
    )
