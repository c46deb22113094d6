"""The kernel as a data plane."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from appliance.config.capabilities import Capabilities
from appliance.dataplane.base import (
    Counters,
    DataPlaneError,
    InterfaceCounters,
    InterfaceState,
    NamespaceMissing,
    RuleCounters,
)
from appliance.dataplane.context import CompileContext
from appliance.dataplane.control_plane.guard import ControlPlaneGuard
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.kernel_view import kernel_neighbors, of_kind, vlan_supported
from appliance.dataplane.linux.filters import MAX_REFLECTING, Filters
from appliance.dataplane.linux.links import Links
from appliance.dataplane.linux.plan import plan
from appliance.dataplane.linux.state import (
    EthernetLink,
    FilterBinding,
    FilterList,
    KernelSettings,
    LinkAddress,
    LinuxObject,
    LinuxState,
    LoopbackLink,
    VlanLink,
)
from appliance.dataplane.linux.sysctl import FORWARDING
from appliance.dataplane.namespace import Namespace, attributes, read_sysctl, write_sysctl
from appliance.dataplane.nic import Nic
from appliance.dataplane.nics import discover, move
from appliance.dataplane.object_step import ObjectStep
from appliance.dataplane.route_answer import RouteAnswer
from appliance.dataplane.route_lookup import look_up
from appliance.engine.backend import BackendUnavailable, Step

T = TypeVar("T")
_LOWER_UP = 0x10000
DROPS_EVERY_S = 10.0
"""How often the drops are counted: nft lists every rule for that."""


class LinuxDataplane:
    """Kernel forwarding in namespace ``netns``; NICs are taken from ``nic_netns`` and given back to it.

    None is the namespace this process runs in. ``management`` names devices that are never data interfaces.
    """

    name = "linux"

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
        self._links = Links(self._space, self._take, self._give_back)
        self._filters = Filters()
        self._self_guard = ControlPlaneGuard()
        self._views = Namespace(netns)
        """Looks at the same namespace from a thread of its own: no commit waits for a view."""
        self._nic_views = self._views if nic_netns == netns else Namespace(nic_netns)
        self._seen_links = Links(self._views, self._take, self._give_back)
        self._seen_filters = Filters()
        self._counting = Namespace(netns)
        self._counted_links = Links(self._counting, self._take, self._give_back)
        self._counted_filters = Filters()
        self._capabilities: Capabilities | None = None
        self._guard = threading.Lock()
        self._drops, self._drops_at_s = 0, -DROPS_EVERY_S

    # The transaction engine's side.

    def observe(self) -> LinuxState:
        """Our links, addresses, access lists and sysctls as they are."""
        with self._available():
            return LinuxState.of(self._inside(self._observe))

    def plan(self, desired: LinuxState, observed: LinuxState) -> Sequence[Step]:
        """Steps from observed to desired. Pure."""
        return plan(desired, observed)

    def apply(self, step: Step) -> None:
        """Make the step so. Raises StepError."""
        assert isinstance(step, ObjectStep)
        self._change(step.before, step.after)

    def undo(self, step: Step) -> None:
        """Make the step's object what it was. Raises StepError."""
        assert isinstance(step, ObjectStep)
        self._change(step.after, step.before)

    def compile_context(self) -> CompileContext:
        """The NICs in both namespaces."""
        with self._available():
            return CompileContext(tuple(self._nics(self._space, self._nic_space)), self._netns)

    # What can be looked at.

    def capabilities(self) -> Capabilities:
        """Sub-interfaces need 802.1Q in the kernel; the rest is always there."""
        if self._capabilities is None:
            try:
                vlan = self._inside(vlan_supported, self._space)
            except NamespaceMissing:
                return _capabilities(vlan=False)
            self._capabilities = _capabilities(vlan)
        return self._capabilities

    def counters(self) -> dict[str, Any]:
        """Interface statistics, and the packets that no rule matched as of the last look at the rules."""
        with self._available():
            if time.monotonic() - self._drops_at_s >= DROPS_EVERY_S:
                self._counting.run(self._read_hits, self._counted_filters)
            messages = self._counting.run(self._counted_links.messages)
        interfaces = {name: _counters(message) for name, message in messages.items()}
        return Counters(interfaces, drops={"no access list rule matched": self._drops}).to_json()

    def acl_hits(self) -> dict[str, dict[int, RuleCounters]]:
        """Hits of each rule; the kernel is asked for all of them."""
        with self._available():
            return self._views.run(self._read_hits, self._seen_filters)

    def interfaces_state(self) -> list[dict[str, Any]]:
        """State of each interface."""
        with self._available():
            observed, messages = self._views.run(
                lambda: (self._seen_links.observe(), self._seen_links.messages())
            )
        addresses: dict[str, list[str]] = {}
        for item in observed:
            if isinstance(item, LinkAddress):
                addresses.setdefault(item.interface, []).append(item.address)
        return [
            asdict(_state(item, messages[item.name], tuple(addresses.get(item.name, ()))))
            for item in observed
            if not isinstance(item, LinkAddress) and item.name in messages
        ]

    def fib(self, destinations: Sequence[str]) -> Sequence[RouteAnswer]:
        """The kernel's table, which is what it forwards by."""
        return self.kernel_routes(destinations)

    def kernel_routes(self, destinations: Sequence[str]) -> Sequence[RouteAnswer]:
        """What the kernel of the namespace answers."""
        with self._available():
            return self._views.run(look_up, destinations)

    def acl_state(self) -> list[dict[str, Any]]:
        """Access lists with hits and where they are bound."""
        with self._available():
            hits, ruleset = self._views.run(
                lambda: (self._read_hits(self._seen_filters), self._seen_filters.ruleset())
            )
        bound: dict[str, list[dict[str, str]]] = {}
        for binding in ruleset.bindings.values():
            for direction, names in (("in", binding.inbound), ("out", binding.outbound)):
                for name in names:
                    bound.setdefault(name, []).append(
                        {"interface": binding.interface, "direction": direction}
                    )
        return [
            {
                "name": name,
                "rules": [{"sequence": sequence, **vars(count)} for sequence, count in sorted(rules.items())],
                "bindings": bound.get(name, []),
            }
            for name, rules in sorted(hits.items())
        ]

    def control_plane_state(self) -> dict[str, Any]:
        """Packets for the router itself, accepted and dropped."""
        with self._available():
            return {"interfaces": self._views.run(ControlPlaneGuard().state), "policers": []}

    def neighbors(self) -> list[dict[str, Any]]:
        """The kernel's ARP and ND tables."""
        with self._available():
            return self._views.run(kernel_neighbors, self._views)

    def hardware(self) -> dict[str, Any]:
        """The NICs."""
        with self._available():
            nics = self._nics(self._views, self._nic_views)
        return {"driver": "linux", "nics": [vars(nic) for nic in nics], "workers": []}

    def health(self) -> dict[str, Any]:
        """Up while the namespace is there and its kernel forwards."""
        try:
            forwarding = self._views.run(read_sysctl, "net/ipv4/ip_forward")
        except DataPlaneError as error:
            return {"state": "down", "detail": str(error)}
        if forwarding != "1":
            return {"state": "down", "detail": f"forwarding is off in namespace {self._netns}"}
        return {"state": "up", "detail": f"the kernel forwards in namespace {self._netns}"}

    def close(self) -> None:
        """Let go of threads and sockets."""
        for space in {self._views, self._nic_views, self._counting, self._space, self._nic_space}:
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

    def _read_hits(self, filters: Filters) -> dict[str, dict[int, RuleCounters]]:
        hits, self._drops = filters.hits()
        self._drops_at_s = time.monotonic()
        return hits

    def _observe(self) -> list[LinuxObject]:
        values = tuple((name, read_sysctl(name) or "") for name, _ in FORWARDING)
        kernel = KernelSettings(values, self._links.loopback_is_up())
        guarded = self._self_guard.observe()
        protection = [] if guarded is None else [guarded]
        return [kernel, *protection, *self._links.observe(), *self._filters.ruleset().objects()]

    def _change(self, before: LinuxObject | None, after: LinuxObject | None) -> None:
        with self._guard:
            try:
                self._inside(self._transition, before, after)
            except NamespaceMissing as error:
                raise BackendUnavailable(self.name, str(error)) from error

    def _transition(self, before: LinuxObject | None, after: LinuxObject | None) -> None:
        item = after if after is not None else before
        if isinstance(item, KernelSettings):
            if isinstance(after, KernelSettings):
                for name, value in after.values:
                    if read_sysctl(name) != value:
                        write_sysctl(name, value)
                self._links.set_loopback_up(after.loopback_up)
        elif isinstance(item, LinkAddress):
            if after is None:
                self._links.delete_address(item)
            else:
                self._links.add_address(item)
        elif isinstance(item, ControlPlane):
            self._self_guard.change(of_kind(after, ControlPlane))
        elif isinstance(item, FilterList):
            self._filters.set_list(item.name, of_kind(after, FilterList))
        elif isinstance(item, FilterBinding):
            self._filters.set_binding(item.interface, of_kind(after, FilterBinding))
        else:
            links = (EthernetLink, VlanLink, LoopbackLink)
            self._links.change(
                before if isinstance(before, links) else None, after if isinstance(after, links) else None
            )

    def _take(self, device: str) -> None:
        if self._nic_space is not self._space:
            move(self._nic_space, device, self._netns)

    def _give_back(self, device: str) -> None:
        if self._nic_space is not self._space:
            move(self._space, device, self._nic_space.name)


def _capabilities(vlan: bool) -> Capabilities:
    return Capabilities(
        "linux", vlan=vlan, nic_drivers=("auto",), max_reflecting_interfaces=MAX_REFLECTING, max_workers=0
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


def _state(item: LinuxObject, message: Any, addresses: tuple[str, ...]) -> InterfaceState:
    known = attributes(message)
    up = bool(message["flags"] & 1 and message["flags"] & _LOWER_UP)
    kinds = {EthernetLink: "ethernet", VlanLink: "sub_interface", LoopbackLink: "loopback"}
    ethernet = isinstance(item, EthernetLink)
    return InterfaceState(
        name=getattr(item, "name", ""),
        type=kinds[type(item)],  # type: ignore[arg-type]  # one of three
        enabled=getattr(item, "enabled", False),
        link="up" if up else "down",
        mac=known.get("IFLA_ADDRESS"),
        mtu=known["IFLA_MTU"],
        addresses=addresses,
        parent=item.parent if isinstance(item, VlanLink) else None,
        vlan_id=item.vlan_id if isinstance(item, VlanLink) else None,
        driver="kernel" if ethernet else None,
        device=item.device if isinstance(item, EthernetLink) else None,
    )
