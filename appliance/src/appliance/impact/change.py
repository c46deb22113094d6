"""A change whose result is foretold: both documents, the live router, and the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from appliance.config.document import RouterConfig
from appliance.config.interface_address import address_of
from appliance.config.vrf_view import seen_in, views
from appliance.impact.deadline import Deadline
from appliance.impact.facts import Facts, ToldFacts
from frr_config.types import IpAddress, IpNetwork

T = TypeVar("T")
BUDGET_S = 2.0
"""The time budget of foretelling as a whole; when it is spent, foretelling ends and says so."""


class OutOfTime(Exception):
    """The budget is spent."""


class NotLookedAt(Exception):
    """An analysis could not look; the text says why."""


@dataclass(frozen=True)
class Arrival:
    """The interface of the document by which the caller's packets reach the router."""

    address: IpAddress
    interface: str
    direct: bool = True
    """They are for the data plane's own namespace; else it forwards them to their destination."""


@dataclass(frozen=True)
class Network:
    """A connected network, and the router's own address in it."""

    interface: str
    network: IpNetwork
    own: IpAddress


class Connected:
    """The connected networks of the interfaces that are up, searchable by address in constant time."""

    def __init__(self, config: RouterConfig) -> None:
        self._networks: dict[tuple[int, int, int], Network] = {}
        self._lengths: set[tuple[int, int]] = set()
        for name, interface in config.interfaces.items():
            if not is_up(config, name):
                continue
            for text in interface.addresses:
                address = address_of(text)
                network: IpNetwork = address.network
                key = (network.version, network.prefixlen, int(network.network_address))
                self._networks.setdefault(key, Network(name, network, address.ip))
                self._lengths.add((network.version, network.prefixlen))

    @property
    def all(self) -> Iterable[Network]:
        """Each network once."""
        return self._networks.values()

    def has(self, network: IpNetwork) -> bool:
        """Whether it is itself one of them, not merely inside one."""
        return (network.version, network.prefixlen, int(network.network_address)) in self._networks

    def of(self, address: IpAddress) -> Network | None:
        """The network that holds the address."""
        number, bits = int(address), address.max_prefixlen
        for version, length in self._lengths:
            if version == address.version:
                start = number >> (bits - length) << (bits - length)
                if (found := self._networks.get((version, length, start))) is not None:
                    return found
        return None


def is_up(config: RouterConfig, name: str) -> bool:
    """Whether the interface is enabled, along with its parent and enough of its members."""
    interface = config.interfaces.get(name)
    if interface is None or not interface.enabled:
        return False
    if interface.carrier is not None:
        return is_up(config, interface.carrier)
    parts = sum(is_up(config, part) for part in interface.made_of)
    return not interface.made_of or parts >= interface.parts_needed


@dataclass(frozen=True)
class Change:
    """From ``before``, which runs, to ``after``."""

    before: RouterConfig
    after: RouterConfig
    facts: Facts = field(default_factory=ToldFacts)
    arrival: Arrival | None = None
    """None: the caller comes by no interface of the document, or the interface is unknown."""
    is_remote: bool = False
    """There is a caller, and not at the router's own console."""
    deadline: Deadline = field(default_factory=Deadline)
    remade: Callable[[], frozenset[str]] = frozenset
    """Interfaces that the steps take down or remove although the document keeps them. Waits for the plan."""

    whole: Change | None = None
    """For a VRF's view of a change: the change itself."""

    def in_vrf(self, vrf: str) -> Change:
        """The change as one VRF sees it; empty: the default one."""
        whole = self.whole or self
        if not (vrf or whole.before.vrfs or whole.after.vrfs):
            return whole
        if vrf not in whole._views:
            whole._views[vrf] = replace(
                whole,
                before=_with_carriers(whole.before, whole._befores, vrf),
                after=_with_carriers(whole.after, whole._afters, vrf),
                facts=whole.facts.in_vrf(vrf),
                # The router is managed in the default VRF alone.
                arrival=None if vrf else whole.arrival,
                is_remote=False if vrf else whole.is_remote,
                whole=whole,
            )
        return whole._views[vrf]

    @property
    def main(self) -> Change:
        """The change in the default VRF, in which alone the router is managed, translates and tunnels."""
        return self.in_vrf("")

    def in_each_vrf(self) -> Iterator[tuple[str, Change]]:
        """The change as each VRF sees it, by name; the default one, whose name is empty, first."""
        for vrf in dict.fromkeys(("", *self.before.vrfs, *self.after.vrfs)):
            yield vrf, self.in_vrf(vrf)

    @cached_property
    def _views(self) -> dict[str, Change]:
        return {}

    @cached_property
    def _befores(self) -> dict[str, RouterConfig]:
        return dict(views(self.before))

    @cached_property
    def _afters(self) -> dict[str, RouterConfig]:
        return dict(views(self.after))

    def once(self, find: Callable[[Change], T]) -> T:
        """The result of ``find`` for this change: computed once, however many analyses ask for it."""
        if find not in self._found:
            self._found[find] = find(self)
        found: T = self._found[find]
        return found

    @cached_property
    def _found(self) -> dict[Callable[[Change], Any], Any]:
        return {}

    def is_remade(self, name: str) -> bool:
        """Whether an interface that stays up, or its parent, goes down for a moment."""
        if not (is_up(self.before, name) and is_up(self.after, name)):
            return False
        carrier = self.after.interfaces[name].carrier
        return name in self.remade() or (carrier is not None and self.is_remade(carrier))

    def in_time(self) -> None:
        """Called in loops that grow with the document. Raises OutOfTime."""
        if self.deadline.is_over:
            raise OutOfTime

    @cached_property
    def connected_before(self) -> Connected:
        """Networks the router is on now."""
        return Connected(self.before)

    @cached_property
    def connected_after(self) -> Connected:
        """Networks the router will be on afterwards."""
        return Connected(self.after)


def _with_carriers(config: RouterConfig, known: Mapping[str, RouterConfig], vrf: str) -> RouterConfig:
    """The document as the VRF sees it, with its interfaces' parents and members, without addresses."""
    view = known[vrf] if vrf in known else seen_in(config, vrf)
    interfaces, left = dict(view.interfaces), list(view.interfaces)
    while left:
        one = config.interfaces[left.pop()]
        for name in (*one.made_of, *((one.carrier,) if one.carrier is not None else ())):
            if name not in interfaces and name in config.interfaces:
                interfaces[name] = config.interfaces[name].model_copy(update={"addresses": ()})
                left.append(name)
    return (
        view
        if len(interfaces) == len(view.interfaces)
        else view.model_copy(update={"interfaces": interfaces})
    )
