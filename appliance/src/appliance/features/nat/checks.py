"""NAT: interfaces, addresses that do not collide, and what a data plane cannot do."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface

from appliance.config.context import Context
from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.config.services import MANAGEMENT, Guarded, Opening, opened, service_at
from appliance.errors import Problem
from appliance.features.nat.addresses import forward_address, interface_address, span
from appliance.features.nat.model import MOST_ADDRESSES, Nat, NatPortForward, bounds
from frr_config.protocols.bgp.effective import peers_in

_NO_WORKERS = (
    "the linux data plane has no limit for NAT alone: net.netfilter.nf_conntrack_max is the kernel's, for all"
    " connections that it tracks"
)
_NO_USERS = "the vpp data plane counts no sessions of a user: leave it unset"
_ONE_CHOICE = "the vpp data plane has one set of outside addresses for all outside interfaces"
_NO_EXCEPTIONS = (
    "the vpp data plane translates all that goes from inside to outside: remove the rule, or route the"
    " destination by an interface that is not outside"
)
_TTL_1 = "unicast packets with a TTL of 1 that come in by interfaces of NAT end in the vpp data plane"


class _Spans:
    """Ranges of addresses with a name each, to be asked which of them hold an address of a range.

    Ranges that overlap are reported elsewhere; here only the later one of them is sure to be found.
    """

    def __init__(self, spans: Iterable[tuple[IPv4Address, IPv4Address, str]]) -> None:
        self._spans = sorted(spans)
        self._starts = [first for first, _, _ in self._spans]

    def holding(
        self, first: IPv4Address, last: IPv4Address
    ) -> Iterator[tuple[IPv4Address, IPv4Address, str]]:
        """First and last address, and name, of each that does."""
        for place in range(max(bisect_right(self._starts, first) - 1, 0), len(self._spans)):
            if self._starts[place] > last:
                return
            if self._spans[place][1] >= first:
                yield self._spans[place]


@dataclass(frozen=True)
class _Networks:
    """Connected IPv4 networks by interface, and the router's own addresses."""

    own: Mapping[IPv4Address, str]
    connected: _Spans

    @classmethod
    def of(cls, context: Context) -> _Networks:
        networks = {
            (known.network[0], known.network[-1], name)
            for name, addresses in context.addresses.items()
            for known in addresses
            if isinstance(known, IPv4Interface)
        }
        own = {address: name for address, name in context.own.items() if isinstance(address, IPv4Address)}
        return cls(own, _Spans(networks))


def check(context: Context) -> Iterator[Problem]:
    """All of it."""
    nat = context.config.nat
    if nat is None:
        return
    networks = _Networks.of(context.default)
    yield from _interfaces(context, nat)
    yield from _pools(nat, networks)
    yield from _static(nat, networks)
    yield from _forwards(context, nat, networks)
    if context.capabilities.driver == "vpp":
        yield from _on_vpp(context.config, nat, networks)
    elif nat.sessions_per_worker is not None:
        yield Problem("/nat/sessions_per_worker", _NO_WORKERS)


def closed(config: RouterConfig) -> Mapping[str, str]:
    """Outside interfaces: VPP's NAT drops what belongs to no session and no mapping. Their addresses are
    excepted.
    """
    nat = config.nat
    return {} if nat is None else dict.fromkeys(nat.outside, "an outside interface of NAT")


def forwarded(config: RouterConfig) -> Mapping[tuple[str, IPv4Address, int], str]:
    """Protocols, addresses and ports that lead to inside hosts: the router itself receives nothing there."""
    found: dict[tuple[str, IPv4Address, int], str] = {}
    for name, one in () if config.nat is None else config.nat.port_forwards.items():
        outside = forward_address(config, one)
        if outside is not None:
            found[one.protocol, outside, one.outside_port] = f"the port forward {name}"
    return found


def _interfaces(context: Context, nat: Nat) -> Iterator[Problem]:
    interfaces = context.config.interfaces
    parts = {part: name for name, one in interfaces.items() for part in one.made_of}
    for field in ("inside", "outside"):
        for index, name in enumerate(getattr(nat, field)):
            path, settings = f"/nat/{field}/{index}", interfaces.get(name)
            if settings is None:
                continue
            if name in parts:
                yield Problem(path, f"{name} passes packets for {parts[name]}: name {parts[name]}")
            elif settings.link is None:
                yield Problem(path, f"no packets come in by {name}, which is a {settings.kind_words}")
            elif settings.vrf is not None:
                yield Problem(path, f"{name} is in VRF {settings.vrf}, and NAT is for the default VRF alone")
    for index, name in enumerate(nat.inside):
        if name in nat.outside:
            yield Problem(f"/nat/inside/{index}", f"{name} is an outside interface, too")
    for index, name in enumerate(nat.masquerade):
        if name not in nat.outside:
            yield Problem(f"/nat/masquerade/{index}", f"{name} is not an outside interface")
        elif name in interfaces and interface_address(context.config, name) is None:
            yield Problem(f"/nat/masquerade/{index}", f"{name} has no IPv4 address")
    if not nat.pools:
        for index, name in enumerate(nat.outside):
            if name not in nat.masquerade:
                message = f"no address to translate to: name {name} in masquerade, or add a pool"
                yield Problem(f"/nat/outside/{index}", message)


def _pools(nat: Nat, networks: _Networks) -> Iterator[Problem]:
    spans = sorted(
        (*bounds(text), join(["nat", "pools", name, "addresses", str(index)]), text)
        for name, pool in nat.pools.items()
        for index, text in enumerate(pool.addresses)
    )
    size = sum(int(last) - int(first) + 1 for first, last, _, _ in spans)
    if size > MOST_ADDRESSES:
        yield Problem("/nat/pools", f"they hold {size} addresses; there may be {MOST_ADDRESSES}")
        return
    end, around = -1, ""
    for first, last, path, text in spans:
        if int(first) <= end:
            yield Problem(path, f"{text} overlaps {around}")
        if int(last) > end:
            end, around = int(last), text
        for address in span(text):
            if (owner := networks.own.get(address)) is not None:
                yield Problem(path, f"{address} is the router's own address on {owner}: use masquerade")
        yield from _place(nat, networks, path, first, last)


def _place(
    nat: Nat, networks: _Networks, path: str, first: IPv4Address, last: IPv4Address
) -> Iterator[Problem]:
    """An outside address may be in a connected network only outside, and there it has to be a host's."""
    for start, end, name in networks.connected.holding(first, last):
        if name not in nat.outside:
            message = (
                f"is in a network of {name}, which is not an outside interface: packets would not come here"
            )
            yield Problem(path, message)
        elif int(end) - int(start) > 1 and (first <= start <= last or first <= end <= last):
            yield Problem(path, f"holds the network or broadcast address of a network of {name}")


def _inside(nat: Nat, networks: _Networks, path: str, text: str) -> Iterator[Problem]:
    address = IPv4Address(text)
    if (owner := networks.own.get(address)) is not None:
        yield Problem(path, f"{text} is the router's own address on {owner}")
    for _, _, name in networks.connected.holding(address, address):
        if name in nat.outside:
            yield Problem(path, f"{text} is in a network of {name}, an outside interface")


def _static(nat: Nat, networks: _Networks) -> Iterator[Problem]:
    pools = _Spans((*bounds(text), name) for name, pool in nat.pools.items() for text in pool.addresses)
    taken: dict[tuple[str, str], str] = {}
    for name, one in sorted(nat.static.items()):
        path = join(["nat", "static", name])
        for field in ("outside_address", "inside_address"):
            other = taken.setdefault((field, getattr(one, field)), name)
            if other != name:
                yield Problem(
                    f"{path}/{field}", f"{getattr(one, field)} is that of the 1:1 mapping {other}, too"
                )
        outside = IPv4Address(one.outside_address)
        if (owner := networks.own.get(outside)) is not None:
            message = f"{outside} is the router's own address on {owner}: use port forwards"
            yield Problem(f"{path}/outside_address", message)
        for _, _, pool in pools.holding(outside, outside):
            yield Problem(f"{path}/outside_address", f"{outside} belongs to the pool {pool}")
        yield from _place(nat, networks, f"{path}/outside_address", outside, outside)
        yield from _inside(nat, networks, f"{path}/inside_address", one.inside_address)


def _forwards(context: Context, nat: Nat, networks: _Networks) -> Iterator[Problem]:
    static = {one.outside_address: name for name, one in nat.static.items()}
    taken: dict[tuple[str, IPv4Address, int], str] = {}
    for name, one in sorted(nat.port_forwards.items()):
        path = join(["nat", "port_forwards", name])
        place = f"{path}/outside_interface" if one.outside_address is None else f"{path}/outside_address"
        yield from _inside(nat, networks, f"{path}/inside_address", one.inside_address)
        if one.outside_interface is not None and one.outside_interface not in nat.outside:
            if one.outside_interface in context.config.interfaces:
                yield Problem(place, f"{one.outside_interface} is not an outside interface")
            continue
        outside = forward_address(context.config, one)
        if outside is None:
            yield Problem(place, f"{one.outside_interface} has no IPv4 address")
            continue
        other = taken.setdefault((one.protocol, outside, one.outside_port), name)
        if other != name:
            what = f"{one.protocol} port {one.outside_port} of {outside}"
            yield Problem(f"{path}/outside_port", f"{what} is forwarded by {other} already")
        if (mapping := static.get(str(outside))) is not None:
            yield Problem(place, f"all of {outside} leads to the host of the 1:1 mapping {mapping}")
        if (owner := networks.own.get(outside)) is None:
            yield from _place(nat, networks, place, outside, outside)
        elif owner not in nat.outside:
            yield Problem(place, f"{outside} is the router's address on {owner}, not an outside interface")
        elif (service := _service(context, owner, one)) is not None:
            message = (
                f"the router itself answers {one.protocol} port {one.outside_port} of {outside}: {service}"
            )
            yield Problem(f"{path}/outside_port", message)


def _service(context: Context, interface: str, forward: NatPortForward) -> str | None:
    """What of the router itself is reached at the port on this interface."""
    service = service_at(forward.protocol, forward.outside_port)
    if service is not None and any(
        not isinstance(one, Guarded | Opening) and one.reason == service.reason
        for one in opened(context.default.config)
    ):
        return service.words
    link = context.config.interfaces[interface].link
    for name in link.management_services if link is not None else ():
        if (forward.protocol, forward.outside_port) == ("tcp", MANAGEMENT[name]):
            return f"the management service {name}"
    return None


def _on_vpp(config: RouterConfig, nat: Nat, networks: _Networks) -> Iterator[Problem]:
    """What VPP's NAT44-ed cannot do."""
    if nat.sessions_per_user is not None:
        yield Problem("/nat/sessions_per_user", _NO_USERS)
    if len(nat.masquerade) > 1:
        yield Problem("/nat/masquerade/1", f"{_ONE_CHOICE}: name one interface")
    if nat.masquerade and nat.pools:
        yield Problem("/nat/pools", f"{_ONE_CHOICE}: use either masquerade or pools")
    for sequence, _ in nat.ordered():
        yield Problem(f"/nat/no_nat/{sequence}", _NO_EXCEPTIONS)
    sides = {*nat.inside, *nat.outside}
    parts = {part for one in config.interfaces.values() for part in one.made_of}
    for name, one in config.interfaces.items():
        if one.link is None or name in sides or name in parts or one.vrf is not None:
            continue
        if interface_address(config, name) is None:
            continue
        message = f"{name} is missing: on the vpp data plane nothing from outside reaches what is not inside"
        yield Problem("/nat/inside", message)
    yield from _one_hop(config, nat, networks)


def _one_hop(config: RouterConfig, nat: Nat, networks: _Networks) -> Iterator[Problem]:
    """Protocols of the router whose neighbors send with a TTL of 1, on either side.

    On a point-to-point link OSPF's packets are multicast, and an adjacency is formed also through NAT's
    inside; on a broadcast link database descriptions are not, and it stays in ExStart.
    """
    ospf, bgp = config.routing.ospf, config.routing.bgp
    sides = {*nat.outside, *nat.inside}
    for name in sorted(sides) if ospf is not None else ():
        link = ospf.interfaces.get(name) if ospf is not None else None
        if link is None or link.passive:
            continue
        path = join(["routing", "ospf", "interfaces", name])
        if name in nat.outside:
            yield Problem(path, f"{_TTL_1}: OSPF cannot run on {name}")
        elif link.network_type != "point-to-point":
            yield Problem(
                f"{path}/network_type",
                f"{_TTL_1}: OSPF can run on {name} with network type point-to-point only",
            )
    if bgp is None:
        return
    for peer in peers_in(bgp):
        text = peer.address
        if ":" in text or peer.is_internal or peer.distance != (None, None):
            continue
        address = IPv4Address(text)
        for _, _, name in networks.connected.holding(address, address):
            if name in sides:
                path = join(["routing", "bgp", "neighbors", text])
                message = f"{_TTL_1}: set ttl_security_hops or ebgp_multihop here and at the neighbor"
                yield Problem(path, message)
