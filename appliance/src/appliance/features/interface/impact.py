"""The effect on links, connected networks and the caller's path. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import partial
from ipaddress import ip_network

from appliance.config.interface_address import address_of
from appliance.config.pointer import join
from appliance.config.services import MANAGEMENT
from appliance.features.interface.model import InterfaceSettings
from appliance.impact.analysis import Analysis
from appliance.impact.change import Arrival, Change, NotLookedAt, is_up
from appliance.impact.facts import Fact
from appliance.impact.needed import ACK, EPHEMERAL_PORT, SYN, TCP, Needed, Now, Packet
from appliance.impact.result import Finding
from appliance.state.interfaces import Interfaces
from frr_config.types import IpAddress, IpNetwork

LINKS: Fact[Interfaces] = Fact(
    "the links of interfaces", lambda live: Interfaces(interfaces=tuple(live.dataplane.interfaces_state()))
)
_SHOWN = 5


def _path(name: str, *more: str) -> str:
    return join(["interfaces", name, *more])


def networks(change: Change) -> Iterator[Finding]:
    """Connected networks that the router leaves, and addresses removed from those where it stays."""
    for name, was in change.before.interfaces.items():
        change.in_time()
        if not is_up(change.before, name):
            continue
        now = change.after.interfaces.get(name)
        had = {address_of(one).network for one in was.addresses}
        has = {address_of(one).network for one in now.addresses} if now is not None else set()
        up = is_up(change.after, name)
        # A network within a larger one of the same link stays on the link.
        lost = {one for one in had if not any(_is_in(one, other) for other in has)} if up else had
        if lost:
            yield _lost(change, name, sorted(lost, key=str), has if up else set())
        elif not up:
            yield Finding(
                grade="certain",
                kind="traffic",
                path=_path(name, *(() if now is None else ("enabled",))),
                text=f"No packet passes {name} any more: {_why(change, name)}.",
            )
        if up and now is not None:
            yield from _without_address(change, name, lost)


def _is_in(inner: IpNetwork, outer: IpNetwork) -> bool:
    return (
        inner.version == outer.version
        and inner.prefixlen >= outer.prefixlen
        and inner.network_address in outer
    )


def _lost(change: Change, name: str, lost: list[IpNetwork], has: Set[IpNetwork]) -> Finding:
    """``has``: the networks of the interface, if it stays up."""
    up, now = is_up(change.after, name), change.after.interfaces.get(name)
    # If another VRF has the network, these hosts are not on it.
    vrf = (change.after if now is not None else change.before).interfaces[name].vrf or ""
    connected = change.in_vrf(vrf).connected_after
    others = [connected.of(one.network_address) for one in lost]
    depends, evidence = _link(change, name)
    if all(one is not None and one.interface != name for one in others):
        depends.append("these hosts are not reached through the other interface that has the network")
    listed = ", ".join(_but_for(one, has) for one in lost[:_SHOWN]) + (
        f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    )
    why = f"{name} no longer has an address in {'it' if len(lost) == 1 else 'them'}"
    return Finding(
        grade="possible" if depends else "certain",
        kind="traffic",
        path=_path(name, *(("addresses",) if up else () if now is None else ("enabled",))),
        text=f"Hosts on {listed} are no longer reached on {name}: {why if up else _why(change, name)}.",
        depends_on="; ".join(depends),
        evidence=evidence,
    )


def _but_for(network: IpNetwork, has: Set[IpNetwork]) -> str:
    """The network, and the part of it that the link keeps."""
    left = sorted((one for one in has if _is_in(one, network)), key=str)
    return f"{network} outside of {' and '.join(map(str, left))}" if left else str(network)


def _link(change: Change, name: str) -> tuple[list[str], str]:
    """The condition under which something on the link is lost, and the link's state as evidence."""
    known = change.facts.of(LINKS)
    link = None if known is None else known.by_name.get(name)
    if link is None:
        return [], ""
    depends = [f"the link of {name} comes up again"] if link.link == "down" else []
    return depends, f"the link of {name} is {link.link}"


def _without_address(change: Change, name: str, lost: Set[IpNetwork]) -> Iterator[Finding]:
    """Addresses removed from networks where the router keeps another: hosts may use them as gateway."""
    was, now = change.before.interfaces[name], change.after.interfaces[name]
    kept = {address_of(one).ip for one in now.addresses}
    gone = [one for one in map(address_of, was.addresses) if one.ip not in kept and one.network not in lost]
    if not gone:
        return
    depends, evidence = _link(change, name)
    listed = ", ".join(str(one.ip) for one in gone[:_SHOWN]) + (
        f" and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else ""
    )
    yield Finding(
        grade="possible",
        kind="traffic",
        path=_path(name, "addresses"),
        text=(
            f"{name} no longer has {listed}: hosts that send their packets through "
            f"{'it' if len(gone) == 1 else 'them'}, or to {'it' if len(gone) == 1 else 'them'}, lose them."
        ),
        depends_on="; ".join([*depends, "hosts there use it as their gateway, or connect to it"]),
        evidence=evidence,
    )


def _why(change: Change, name: str) -> str:
    now = change.after.interfaces.get(name)
    if now is None:
        return f"{name} is removed"
    if not now.enabled:
        return f"{name} is disabled"
    if now.carrier is not None:
        return f"{now.carrier}, which it is on, is disabled"
    if now.parts_needed > 1:
        return f"fewer of its members are enabled than the {now.parts_needed} that it needs"
    return f"all its members are disabled: {', '.join(now.made_of[:_SHOWN])}"


def links(change: Change) -> Iterator[Finding]:
    """Interfaces that stay up, but are then on another link or have a smaller MTU."""
    for name, now in change.after.interfaces.items():
        change.in_time()
        was = change.before.interfaces.get(name)
        if was is None or was is now or not (is_up(change.before, name) and is_up(change.after, name)):
            continue
        if now.mtu < was.mtu:
            yield Finding(
                grade="possible",
                kind="traffic",
                path=_path(name, "mtu"),
                text=(
                    f"Packets above {now.mtu:,} bytes no longer pass {name}: those it has to send are "
                    "dropped, or fragmented where IPv4 allows it, and it may drop those it receives."
                ),
                depends_on=f"packets of {now.mtu + 1:,} to {was.mtu:,} bytes pass {name}",
            )
        differs = _differs(was, now)
        if was.type != now.type or differs:
            what = ", ".join(type(now).model_fields[field].title or field for field in differs) or "type"
            yield Finding(
                grade="possible",
                kind="traffic",
                path=_path(name, *differs[:1]),
                text=(
                    f"{name} is then on another link: its {what} changes. Hosts on the old link are "
                    "no longer reached."
                ),
                depends_on="the hosts are not on the new link too",
            )

        yield from _parts(change, name, was, now)
        for field in now.agreed_fields if was.type == now.type else ():
            if getattr(was, field) != getattr(now, field):
                title = type(now).model_fields[field].title or field
                yield Finding(
                    grade="possible",
                    kind="traffic",
                    path=_path(name, field),
                    text=f"No packet passes {name} until its other end is set to match: its {title} becomes "
                    f"{getattr(now, field)}.",
                    depends_on="the other end is not already set to match",
                )


def _parts(change: Change, name: str, was: InterfaceSettings, now: InterfaceSettings) -> Iterator[Finding]:
    """An interface made of members needs links on its members: it is not enough that they are enabled."""
    before, after = (
        {part for part in one.made_of if is_up(config, part)}
        for one, config in ((was, change.before), (now, change.after))
    )
    if not before or (after >= before and now.parts_needed <= was.parts_needed):
        return
    states = change.facts.of(LINKS)
    link = {} if states is None else {one.name: one.link for one in states.interfaces}
    linked = {part for part in before | after if link.get(part, "up") == "up"}
    left = after & before & linked
    if len(before & linked) < was.parts_needed or len(left) >= now.parts_needed:
        return
    # A member that was not in use may get a link.
    may_be_up = len(left) + len(after - before) >= now.parts_needed
    having = f"{' and '.join(sorted(left)) or 'none'} {'have' if len(left) > 1 else 'has'} one"
    yield Finding(
        grade="possible" if may_be_up else "certain",
        kind="traffic",
        path=_path(name),
        text=f"No packet passes {name} any more: it needs {now.parts_needed} member"
        f"{'s' if now.parts_needed > 1 else ''} with a link, and of those that are left {having}.",
        depends_on=f"{' and '.join(sorted(after - before)[:_SHOWN])} has no link" if may_be_up else "",
        evidence="; ".join(f"{part} is {link[part]}" for part in sorted(before | after) if part in link),
    )


def _differs(was: InterfaceSettings, now: InterfaceSettings) -> list[str]:
    """The changed fields that put it on another link. While it keeps a member, the link is the same."""
    if set(was.made_of) & set(now.made_of):
        return []
    return [field for field in now.link_fields if getattr(was, field, None) != getattr(now, field)]


def management(change: Change) -> Iterator[Finding]:
    """The caller's own path to the router's services."""
    arrival = change.arrival
    if arrival is None:
        if change.is_remote:
            raise NotLookedAt(
                "as far as the router knows, you do not reach it through an interface of the document"
            )
        return
    name, address = arrival.interface, arrival.address
    if is_up(change.before, name) and not is_up(change.after, name):
        why = f"{_why(change, name)}, and {address} reaches it through {name}"
        yield _cut(change, arrival, why, _path(name))
        return
    if not is_up(change.after, name):
        return
    if change.before.interfaces[name].vrf is None and (vrf := change.after.interfaces[name].vrf) is not None:
        yield Finding(
            grade="certain",
            kind="management",
            path=_path(name, "vrf"),
            text=(
                f"You lose access to the router: {name}, through which {address} reaches it, moves to VRF "
                f"{vrf}, and the router can only be managed in the default VRF."
            ),
        )
        return
    yield from _moved(change, arrival)
    if not arrival.direct:
        return
    closed = sorted(
        set(MANAGEMENT)
        & {s for s in MANAGEMENT if _opens(change, arrival, s, False)}
        - {s for s in MANAGEMENT if _opens(change, arrival, s, True)}
    )
    if closed:
        now = change.after.interfaces[name].link
        still = now is not None and set(closed) & set(now.management_services)
        why = "is in none of its management sources" if still else "no longer serves it there"
        yield Finding(
            grade="certain",
            kind="management",
            path=_path(name, "management_sources" if still else "management_services"),
            text=(
                f"You lose {' and '.join(closed)}: {address} arrives on {name}, "
                f"{'and ' + why if still else 'and the router ' + why}."
            ),
        )


def _moved(change: Change, arrival: Arrival) -> Iterator[Finding]:
    """The router's end of the caller's path has another address, or is no longer in the caller's network."""
    name, address = arrival.interface, arrival.address
    had, has = (
        [
            one
            for text in config.interfaces[name].addresses
            if (one := address_of(text)).version == address.version
        ]
        for config in (change.before, change.after)
    )
    gone = [str(one.ip) for one in had if one.ip not in {other.ip for other in has}]
    if not gone:
        return
    why = f"{name}, through which {address} reaches it, no longer has {' and '.join(gone[:_SHOWN])}"
    network = next((one.network for one in had if address in one.network), None)
    if not has or (network is not None and not any(address in one.network for one in has)):
        yield _cut(change, arrival, why, _path(name, "addresses"))
        return
    yield Finding(
        grade="possible",
        kind="management",
        path=_path(name, "addresses"),
        text=f"You lose access to the router: {why}.",
        depends_on="you connect to that address, or it is your gateway",
    )


def _cut(change: Change, arrival: Arrival, why: str, path: str) -> Finding:
    """The path is lost, unless another interface now has the caller's network."""
    moved = change.main.connected_after.of(arrival.address)
    return Finding(
        grade="certain" if moved is None else "possible",
        kind="management",
        path=path,
        text=f"You lose access to the router: {why}.",
        depends_on=""
        if moved is None
        else f"{arrival.address} is not behind {moved.interface}, which has {moved.network}, or you "
        f"connect to an address other than {moved.own}",
    )


def _opens(change: Change, arrival: Arrival, service: str, after: bool) -> bool:
    config = change.after if after else change.before
    interface = config.interfaces.get(arrival.interface)
    link = None if interface is None else interface.link
    if link is None or service not in link.management_services:
        return False
    return not link.management_sources or any(
        arrival.address.version == network.version and arrival.address in network
        for network in (ip_network(source) for source in link.management_sources)
    )


def needed(change: Change, after: bool) -> Iterator[Needed]:
    """The caller's own connections."""
    arrival = change.arrival
    config = change.after if after else change.before
    if arrival is None or not is_up(config, arrival.interface):
        return
    own = [address_of(one).ip for one in config.interfaces[arrival.interface].addresses]
    router = next((one for one in own if one.version == arrival.address.version), None)
    if router is None:
        return
    for service, port in MANAGEMENT.items():
        if arrival.direct and not _opens(change, arrival, service, after):
            continue
        for incoming in (True, False):
            yield Needed(
                f"your {service} from {arrival.address}",
                _path(arrival.interface),
                "management",
                arrival.interface,
                "in" if incoming else "out",
                (_ways(arrival, router, port, incoming),),
                partial(_connected, arrival),
            )


def _connected(arrival: Arrival) -> Now:
    """When the router only forwards the caller's packets, the destination behind it is unknown."""
    if arrival.direct:
        return Now(True, f"{arrival.address} arrives on {arrival.interface}")
    return Now(None, f"{arrival.address} is reached through {arrival.interface}")


def _ways(arrival: Arrival, router: IpAddress, port: int, incoming: bool) -> tuple[Packet, ...]:
    if incoming:
        return tuple(
            Packet(arrival.address, router, TCP, EPHEMERAL_PORT, port, flags) for flags in (SYN, ACK)
        )
    return tuple(
        Packet(router, arrival.address, TCP, port, EPHEMERAL_PORT, flags) for flags in (SYN | ACK, ACK)
    )


ANALYSES = (
    Analysis("your own connection", management),
    Analysis("connected networks", networks),
    Analysis("MTU and links", links),
)
