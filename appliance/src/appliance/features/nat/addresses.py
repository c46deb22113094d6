"""Which addresses a document's NAT uses outside. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, summarize_address_range

from appliance.config.document import RouterConfig
from appliance.config.interface_address import address_of
from appliance.features.nat.model import Nat, NatPortForward, bounds


def interface_address(config: RouterConfig, name: str) -> IPv4Address | None:
    """The first IPv4 address of an interface; None if it has none."""
    settings = config.interfaces.get(name)
    for text in settings.addresses if settings is not None else ():
        address = address_of(text).ip
        if isinstance(address, IPv4Address):
            return address
    return None


def pool_addresses(nat: Nat) -> list[IPv4Address]:
    """Of all pools, each once, in ascending order."""
    return sorted(
        {address for pool in nat.pools.values() for text in pool.addresses for address in span(text)}
    )


def span(text: str) -> Iterator[IPv4Address]:
    """The addresses of a range."""
    first, last = bounds(text)
    return (IPv4Address(number) for number in range(int(first), int(last) + 1))


def forward_address(config: RouterConfig, forward: NatPortForward) -> IPv4Address | None:
    """The outside address of a port forward; None if its interface has no IPv4 address."""
    if forward.outside_address is not None:
        return IPv4Address(forward.outside_address)
    assert forward.outside_interface is not None
    return interface_address(config, forward.outside_interface)


def overload(config: RouterConfig, nat: Nat) -> dict[str, IPv4Address]:
    """The address given to sessions that leave by an interface in ``masquerade``."""
    found = {name: interface_address(config, name) for name in nat.masquerade}
    return {name: address for name, address in found.items() if address is not None}


def own_addresses(config: RouterConfig) -> set[IPv4Address]:
    """IPv4 addresses of the router's interfaces where addresses are translated."""
    interfaces = config.main_interfaces.values()
    addresses = (address_of(text).ip for one in interfaces for text in one.addresses)
    return {address for address in addresses if isinstance(address, IPv4Address)}


def received(config: RouterConfig, nat: Nat) -> list[IPv4Network]:
    """Outside addresses that no interface has, as few prefixes: the router answers ARP for them itself."""
    found = set(pool_addresses(nat))
    found.update(IPv4Address(one.outside_address) for one in nat.static.values())
    found.update(
        IPv4Address(one.outside_address)
        for one in nat.port_forwards.values()
        if one.outside_address is not None
    )
    numbers = sorted(int(address) for address in found - own_addresses(config))
    networks: list[IPv4Network] = []
    start = 0
    for place, number in enumerate(numbers):
        if place + 1 == len(numbers) or numbers[place + 1] != number + 1:
            networks += summarize_address_range(IPv4Address(numbers[start]), IPv4Address(number))
            start = place + 1
    return networks
