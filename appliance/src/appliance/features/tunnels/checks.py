"""Tunnels: where they begin and end, and that their packets leave by another interface and fit it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network

from appliance.config.context import Context, address, family_title
from appliance.config.pointer import join
from appliance.errors import Problem
from appliance.features.tunnels.ends import destination_of, source_of
from appliance.features.tunnels.model import Tunnel
from frr_config.types import IpAddress, IpNetwork


def check(context: Context) -> Iterator[Problem]:
    """Each begins at an address of this router and ends at another's; no two are the same tunnel."""
    tunnels = dict(sorted(context.config.interfaces_of(Tunnel)))
    if not tunnels:
        return
    taken: dict[tuple[str, IpAddress, IpAddress], str] = {}
    sound: dict[str, Tunnel] = {}
    ways = _Ways(context.default)
    for name, tunnel in tunnels.items():
        problems = [*_vrfs(context, name, tunnel), *_ends(context, name, tunnel, taken)]
        yield from problems
        if not problems:
            sound[name] = tunnel
            yield from _size(context, ways, name, tunnel)
    for name in _never_out({name: _of_tunnels(tunnel.carrier, sound) for name, tunnel in sound.items()}):
        message = f"{tunnels[name].source} is a tunnel, and following its source leads only to more tunnels"
        yield Problem(_path(name, "source"), message)
    leading = {name: ways.to(destination_of(tunnel)) & sound.keys() for name, tunnel in sound.items()}
    for name in _never_out(leading):
        through = " and ".join(sorted(leading[name]))
        message = (
            f"the route to {tunnels[name].destination} leads into {through}, and from there only into "
            "more tunnels"
        )
        yield Problem(_path(name, "destination"), message)


def _path(name: str, field: str) -> str:
    return join(["interfaces", name, field])


def _vrfs(context: Context, name: str, tunnel: Tunnel) -> Iterator[Problem]:
    """Tunnels use only the default table, outside and inside."""
    if tunnel.vrf is not None:
        yield Problem(_path(name, "vrf"), f"{name} is a tunnel, and tunnels can only be in the default VRF")
    source = source_of(context.config, tunnel)
    begins = tunnel.carrier or (None if source is None else _own(context).get(source))
    interface = context.config.interfaces.get(begins or "")
    if interface is not None and interface.vrf is not None:
        message = f"{begins} is in VRF {interface.vrf}, and tunnels can only begin in the default VRF"
        yield Problem(_path(name, "source"), message)


def _own(context: Context) -> Mapping[IpAddress, str]:
    """The router's addresses, and the interfaces they are on: those of the default VRF before others."""
    return {**context.own, **context.default.own}


def _ends(
    context: Context, name: str, tunnel: Tunnel, taken: dict[tuple[str, IpAddress, IpAddress], str]
) -> Iterator[Problem]:
    to = destination_of(tunnel)
    version = "ipv6" if to.version == 6 else "ipv4"
    if to.is_multicast or to.is_unspecified or to.is_loopback or (to.version == 6 and to.is_link_local):
        yield Problem(_path(name, "destination"), f"{to} cannot be the other end of a tunnel")
        return
    if (owner := context.default.own.get(to)) is not None:
        message = f"{to} is this router's own address, on {owner}"
        yield Problem(_path(name, "destination"), message)
        return
    lacking = context.capabilities.lacking.get(f"{tunnel.type}_over_{version}")
    if lacking is not None:
        yield Problem(_path(name, "destination"), lacking)
    source = source_of(context.config, tunnel)
    if source is None:
        if tunnel.carrier in context.config.interfaces:
            message = f"{tunnel.source} has no {family_title(version)} address, and {to} is one"
            yield Problem(_path(name, "source"), message)
    elif source.version != to.version:
        other = family_title("ipv6" if source.version == 6 else "ipv4")
        message = f"{source} is an {other} address, and the destination {to} is not"
        yield Problem(_path(name, "source"), message)
    elif (begins := _own(context).get(source)) is None:
        yield Problem(_path(name, "source"), f"{source} is not an address of this router's interfaces")
    elif begins == name:
        yield Problem(_path(name, "source"), f"{source} is inside the tunnel: give one outside it")
    elif (first := taken.setdefault((tunnel.type, source, to), name)) != name:
        message = f"{first} is already the tunnel from {source} to {to}"
        yield Problem(_path(name, "destination"), message)


def _size(context: Context, ways: _Ways, name: str, tunnel: Tunnel) -> Iterator[Problem]:
    """Its largest packet fits the interfaces it leaves by; if those are unknown, any that it can."""
    interfaces = context.config.interfaces
    mtus = [interfaces[one].mtu for one in ways.to(destination_of(tunnel))] or ways.mtus
    overhead = tunnel.overhead_bytes[destination_of(tunnel).version]
    if mtus and tunnel.mtu + overhead > max(mtus):
        message = (
            f"packets of {tunnel.mtu} bytes do not fit with {overhead} bytes of headers added: the largest "
            f"MTU they can leave by is {max(mtus)}; set at most {max(mtus) - overhead}"
        )
        yield Problem(_path(name, "mtu"), message)


class _Ways:
    """The interfaces by which the document itself sends packets; learned routes are not in it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        routes = context.config.routing.static
        self._connected = {one.network: name for name, known in context.addresses.items() for one in known}
        lengths = {(network.version, network.prefixlen) for network in self._connected}
        self._connected_lengths = sorted(lengths, reverse=True)
        lengths |= {(6 if ":" in prefix else 4, int(prefix.rpartition("/")[2])) for prefix in routes}
        self._lengths = sorted(lengths, reverse=True)
        self.mtus = [
            one.mtu
            for one in context.config.interfaces.values()
            if one.link is not None and not isinstance(one, Tunnel)
        ]

    def to(self, destination: IpAddress) -> frozenset[str]:
        """The interfaces of the longest prefix that contains it; none if there is no prefix."""
        for prefix in _holding(destination, self._lengths):
            if (interface := self._connected.get(prefix)) is not None:
                return frozenset((interface,))
            if (route := self._context.config.routing.static.get(str(prefix))) is not None:
                hops = {hop.interface or self._next(hop.address) for hop in route.next_hops}
                return frozenset(hop for hop in hops if hop in self._context.config.interfaces)
        return frozenset()

    def _next(self, text: str | None) -> str | None:
        if text is None:
            return None
        prefixes = _holding(address(text), self._connected_lengths)
        return next((self._connected[prefix] for prefix in prefixes if prefix in self._connected), None)


def _holding(one: IpAddress, lengths: Sequence[tuple[int, int]]) -> Iterator[IpNetwork]:
    """The prefixes of these lengths that contain the address."""
    host: IpNetwork = ip_network(one)
    for version, length in lengths:
        if version == one.version:
            yield host.supernet(new_prefix=length)


def _of_tunnels(name: str | None, tunnels: Mapping[str, Tunnel]) -> frozenset[str]:
    return frozenset() if name is None or name not in tunnels else frozenset((name,))


def _never_out(ways: Mapping[str, frozenset[str]]) -> list[str]:
    """The tunnels from which a path leads into tunnels endlessly."""
    entered: dict[str, list[str]] = {}
    for name, through in ways.items():
        for other in through:
            entered.setdefault(other, []).append(name)
    left = {name: len(through) for name, through in ways.items()}
    out = [name for name, count in left.items() if not count]
    for name in out:
        for other in entered.get(name, ()):
            left[other] -= 1
            if not left[other]:
                out.append(other)
    return sorted(ways.keys() - set(out))
