"""Pools, 1:1 mappings and port forwards that translate nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from appliance.config.document import RouterConfig
from appliance.config.interface_address import address_of
from appliance.config.pointer import join
from appliance.features.nat.addresses import forward_address
from appliance.features.nat.model import Nat, bounds
from appliance.impact.change import is_up
from appliance.liveness.declaration import Need, Thing, of_things
from appliance.state.object_state import ObjectPart

_SIDE = "an inside interface"


def things(config: RouterConfig) -> Iterator[Thing]:
    """Each of them."""
    nat = config.nat
    if nat is None:
        return
    outside = _Outside(config, nat)
    for name, pool in nat.pools.items():
        parts = tuple(outside.pooled(text) for text in pool.addresses)
        yield Thing(join(["nat", "pools", name]), "NAT pool", name, known=parts, is_any=True)
    for name, one in nat.static.items():
        address = IPv4Address(one.outside_address)
        need = _host(nat, one.inside_address)
        yield Thing(
            join(["nat", "static", name]), "1:1 mapping", name, (need,), (outside.taken(address, address),)
        )
    for name, forward in nat.port_forwards.items():
        known = outside.taken(forward_address(config, forward), forward_address(config, forward))
        need = _host(nat, forward.inside_address)
        yield Thing(join(["nat", "port_forwards", name]), "port forward", name, (need,), (known,))


def _host(nat: Nat, address: str) -> Need:
    return Need(f"inside host {address}", address, only_by=nat.inside, side=_SIDE)


class _Outside:
    """Whether packets to outside addresses come to this router."""

    def __init__(self, config: RouterConfig, nat: Nat) -> None:
        up = [name for name in nat.outside if is_up(config, name)]
        self._any_up = bool(up)
        self._networks = [
            one.network
            for name in up
            for one in map(address_of, config.interfaces[name].addresses)
            if one.version == 4
        ]
        self._overloaded = set(nat.outside) <= set(nat.masquerade)

    def pooled(self, text: str) -> ObjectPart:
        """A range of a pool."""
        if self._overloaded:
            why = "every outside interface is in masquerade: no session gets an address of a pool"
            return ObjectPart(name=text, state="inactive", why=why)
        return self.taken(*bounds(text), name=text)

    def taken(self, first: IPv4Address | None, last: IPv4Address | None, name: str = "") -> ObjectPart:
        """Addresses from the first to the last."""
        name = name or f"outside address {first}"
        if not self._any_up:
            return ObjectPart(name=name, state="inactive", why="no outside interface is enabled")
        if first is None or last is None:
            return ObjectPart(name=name, state="inactive", why="its outside interface has no IPv4 address")
        if any(first in network and last in network for network in self._networks):
            return ObjectPart(name=name, state="working")
        shown = str(first) if first == last else f"{first} to {last}"
        why = (
            f"{shown} is in no network of an outside interface: it is not known whether other routers send"
            " its packets here"
        )
        return ObjectPart(name=name, state="unknown", why=why)


LIVENESS = (
    of_things(
        "nat_mapping",
        "NAT mappings and pools",
        "Add a route to the inside host, or correct its address; its interface needs a link.",
        things,
    ),
)
