"""What the router lets in, as nftables JSON. Pure.

Layout of table ``inet millrace_control``::

    chain input (input)                 packets of the guarded interfaces go on in chain protect
    chain protect                       by protocol into the chains below; else dropped
    chain <service>                     of each service that the features declare
    chain echo, icmp, traceroute, management
    set guarded                         names of the guarded interfaces
    set <service>-<family>-<form>       who may use a service, by address, and in which form
    set links-<service>                 interfaces on which everybody may, where some may by address
    set accepted-<reason>, dropped-<reason>, rate-<reason>
                                        interfaces, each with its own counter, or its own rate

No rule names connection tracking: what a flood would fill is not there. Nothing but the sets and the chains
of ``management`` and of services with forms depends on the document, so that counts outlive a commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_network
from typing import Any

from appliance.config.services import MANAGEMENT, Family, Only, Ports, Protocols, Service, services
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.nftables.expressions import Json, add, match, meta, payload, prefix

TABLE = "millrace_control"
HOOK = ("input", 0, "accept")
"""Behind the access lists, which are asked before the kernel routes."""

RATES = {"echo": 500, "icmp": 1000, "traceroute": 100}
"""Packets a second, and at once, of each interface."""
FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")

_IGMP, _TCP, _UDP = 2, 6, 17
NFPROTO = {"ipv4": 2, "ipv6": 10}
_ACK_OR_RST = 0x14
_TRACEROUTE = [33434, 33534]
_SOLICITATIONS = [135, 136]
# Echo reply, unreachable, time exceeded, parameter problem; of IPv6 also too big and the query for listeners.
_ANSWERS = {"icmp": [0, 3, 11, 12], "icmpv6": [1, 2, 3, 4, 129, 130]}
_ECHO_REQUEST = {"icmp": 8, "icmpv6": 128}
_SOURCE = {"ipv4": payload("ip", "saddr"), "ipv6": payload("ip6", "saddr")}
_TTL = {"ipv4": payload("ip", "ttl"), "ipv6": payload("ip6", "hoplimit")}
_ICMPX_PORT_UNREACHABLE = "port-unreachable"


def within(kind: str, **content: Any) -> Json:
    """An object of our table."""
    return {kind: {"family": "inet", "table": TABLE, **content}}


def accepted() -> tuple[str, ...]:
    """Reasons for which packets are let in."""
    return (*services(), "neighbour-discovery", "echo", "icmp", "traceroute", "management")


def dropped() -> tuple[str, ...]:
    """Reasons for which packets are dropped."""
    return (*services(), "echo", "icmp", "traceroute", "management", "tcp", "udp", "other")


def family_of(text: str) -> Family:
    """Of a prefix."""
    return "ipv6" if ":" in text else "ipv4"


def links_set(service: Service) -> str:
    """Name of the set of interfaces on which everybody may use it: where no peer can, that of the counts."""
    return f"{'links' if service.forms else 'accepted'}-{service.reason}"


def is_of_peers(name: str) -> bool:
    """Whether a set holds addresses of those who may use a service."""
    return name.partition("-")[0] in services()


def peer_sets(wanted: ControlPlane) -> dict[str, tuple[str, ...]]:
    """Prefixes by set."""
    found: dict[str, list[str]] = {}
    for peer in wanted.peers:
        name = f"{peer.reason}-{family_of(peer.prefix)}-{peer.form}"
        found.setdefault(name, []).append(peer.prefix)
    return {name: tuple(sorted(prefixes)) for name, prefixes in found.items()}


def interface_sets(wanted: ControlPlane) -> dict[str, tuple[str, ...]]:
    """Interfaces by set: where management, or a service of links, is not opened nothing could be accepted."""
    sets = {"guarded": wanted.interfaces}
    sets |= {f"accepted-{reason}": wanted.interfaces for reason in accepted()}
    sets |= {f"dropped-{reason}": wanted.interfaces for reason in dropped()}
    sets |= {f"rate-{reason}": wanted.interfaces for reason in RATES}
    for reason, service in services().items():
        if service.links:
            sets[links_set(service)] = wanted.links_of(reason)
    sets["accepted-management"] = tuple(sorted({opening.interface for opening in wanted.management}))
    return sets


def set_definition(name: str) -> Json:
    """The set as it is declared, without elements."""
    kind, _, reason = name.partition("-")
    if is_of_peers(name):
        family = reason.partition("-")[0]
        return within("set", name=name, type=f"{family}_addr", flags=["interval"])
    if kind == "rate":
        rate = RATES[reason]
        return within(
            "set", name=name, type="ifname", stmt=[{"limit": {"rate": rate, "burst": rate, "per": "second"}}]
        )
    counted = {"stmt": [{"counter": None}]} if kind in ("accepted", "dropped") else {}
    return within("set", name=name, type="ifname", **counted)


def elements(name: str, members: tuple[str, ...]) -> Json:
    """Members of a set."""
    return within("element", name=name, elem=[prefix(one) if "/" in one else one for one in members])


def chains(wanted: ControlPlane) -> dict[str, list[list[Json]]]:
    """Expressions of each rule, by chain."""
    sets = peer_sets(wanted)
    return {
        "input": [[_interface_in("guarded"), _goto("protect")]],
        "protect": _protect(),
        **{
            reason: [*_peer_rules(service, sets), *_link_rules(service, wanted), *_refused(reason)]
            for reason, service in services().items()
        },
        "echo": [_limited("echo", {"accept": None}), *_refused("echo")],
        "icmp": [_limited("icmp", {"accept": None}), *_refused("icmp")],
        "traceroute": [
            # The sender is told that it arrived; a program that listens there hears nothing.
            _limited("traceroute", {"reject": {"type": "icmpx", "expr": _ICMPX_PORT_UNREACHABLE}}),
            *_refused("traceroute"),
        ],
        "management": [*_management_rules(wanted), *_refused("management")],
    }


def _protect() -> list[list[Json]]:
    answers = [[match(payload(name, "type"), {"set": types})] for name, types in _ANSWERS.items()]
    # Later pieces of a fragmented IPv6 packet, which are nothing without the first.
    answers += [[match(meta("l4proto"), _IGMP)]]
    answers += [[match({"exthdr": {"name": "frag", "field": "frag-off"}}, 0, "!=")]]
    return [
        [
            match(payload("icmpv6", "type"), {"set": _SOLICITATIONS}),
            match(_TTL["ipv6"], 255),
            *_accepted("neighbour-discovery"),
        ],
        *_by_service(),
        *([match(payload(name, "type"), number), _goto("echo")] for name, number in _ECHO_REQUEST.items()),
        *([*matches, _goto("icmp")] for matches in answers),
        [match(payload("udp", "dport"), {"range": _TRACEROUTE}), _goto("traceroute")],
        [match(payload("tcp", "dport"), {"set": sorted(MANAGEMENT.values())}), _goto("management")],
        [match(meta("l4proto"), _TCP), _interface_in("dropped-tcp"), {"drop": None}],
        [match(meta("l4proto"), _UDP), _interface_in("dropped-udp"), {"drop": None}],
        *_refused("other"),
    ]


def _by_service() -> Iterator[list[Json]]:
    """Into the chains of the services."""
    for reason, service in services().items():
        for packets in service.packets:
            yield [*_are(packets), _goto(reason)]
            if isinstance(packets, Ports) and packets.answers:
                flags = {"&": [payload("tcp", "flags"), _ACK_OR_RST]}
                opens_nothing = [match(flags, 0, "!=")] if packets.transport == "tcp" else []
                from_there = match(payload(packets.transport, "sport"), _one_of(packets.ports))
                yield [from_there, *opens_nothing, _goto(reason)]


def _are(packets: Ports | Protocols) -> list[Json]:
    """That a packet is one of these."""
    if isinstance(packets, Ports):
        return [match(payload(packets.transport, "dport"), _one_of(packets.ports))]
    of_family = [_of_family(packets.family)] if packets.family is not None else []
    return [*of_family, match(meta("l4proto"), _one_of(packets.numbers))]


def _one_of(numbers: tuple[int, ...]) -> Any:
    return numbers[0] if len(numbers) == 1 else {"set": sorted(numbers)}


def _of_family(family: Family) -> Json:
    return match(meta("nfproto"), NFPROTO[family])


def _peer_rules(service: Service, sets: Iterable[str]) -> Iterator[list[Json]]:
    for name in sorted(sets):
        reason, family, form = name.split("-", 2)
        for only in service.forms[form].accepted if reason == service.reason else ():
            if only.family in (None, family):
                yield [match(_SOURCE[family], f"@{name}"), *_asked(only, family), *_accepted(reason)]


def _link_rules(service: Service, wanted: ControlPlane) -> Iterator[list[Json]]:
    """Without forms, packets are counted on open links alone: the set of counts selects the interfaces."""
    if service.forms and not wanted.links_of(service.reason):
        return
    come_in = [_interface_in(links_set(service))] if service.forms else []
    for only in service.links:
        if only.ttl is not None or only.least_ttl is not None:
            for family in FAMILIES if only.family is None else (only.family,):
                yield [*come_in, *_asked(only, family), *_accepted(service.reason)]
        else:
            of_family = [] if only.family is None else [_of_family(only.family)]
            yield [*come_in, *of_family, *_asked(only, ""), *_accepted(service.reason)]


def _asked(only: Only, family: str) -> list[Json]:
    """What is asked of a packet, whose TTL is that of this family."""
    found = [] if only.packets is None else _are(only.packets)
    if only.ttl is not None:
        found.append(match(_TTL[family], only.ttl))
    if only.least_ttl is not None:
        found.append(match(_TTL[family], only.least_ttl, ">="))
    return found


def _management_rules(wanted: ControlPlane) -> Iterator[list[Json]]:
    for opening in wanted.management:
        matches = [match(meta("iifname"), opening.interface)]
        if opening.source:
            matches.append(_from(opening.source))
        matches.append(match(payload("tcp", "dport"), MANAGEMENT[opening.service]))
        yield [*matches, *_accepted("management")]


def _from(source: str) -> Json:
    network = ip_network(source)
    if network.prefixlen == 0:
        return _of_family(family_of(source))
    host = network.prefixlen == network.max_prefixlen
    value: Any = str(network.network_address) if host else prefix(source)
    return match(_SOURCE[family_of(source)], value)


def _interface_in(name: str) -> Json:
    return match(meta("iifname"), f"@{name}")


def _goto(chain: str) -> Json:
    return {"goto": {"target": chain}}


def _accepted(reason: str) -> list[Json]:
    return [_interface_in(f"accepted-{reason}"), {"accept": None}]


def _limited(reason: str, verdict: Json) -> list[Json]:
    return [_interface_in(f"rate-{reason}"), _interface_in(f"accepted-{reason}"), verdict]


def _refused(reason: str) -> list[list[Json]]:
    return [[_interface_in(f"dropped-{reason}"), {"drop": None}], [{"drop": None}]]


def whole_table(wanted: ControlPlane) -> list[Json]:
    """Commands that make the table anew, in place of any that is there."""
    table = {"table": {"family": "inet", "name": TABLE}}
    hook, priority, policy = HOOK
    commands = [add(table), {"delete": table}, add(table)]
    for name, members in {**interface_sets(wanted), **peer_sets(wanted)}.items():
        commands += _new_set(name, members)
    rules = chains(wanted)
    for chain in rules:
        base = {"type": "filter", "hook": hook, "prio": priority, "policy": policy} if chain == hook else {}
        commands.append(add(within("chain", name=chain, **base)))
    for chain, expressions in rules.items():
        commands += [add(within("rule", chain=chain, expr=expression)) for expression in expressions]
    return commands


def _new_set(name: str, members: tuple[str, ...]) -> list[Json]:
    commands = [add(set_definition(name))]
    return [*commands, add(elements(name, members))] if members else commands


def changes(before: ControlPlane, after: ControlPlane) -> list[Json]:
    """Commands from one to the other. What stays keeps its counts and its rate."""
    commands: list[Json] = []
    old = {**interface_sets(before), **peer_sets(before)}
    new = {**interface_sets(after), **peer_sets(after)}
    for name, members in new.items():
        if name not in old:
            commands += _new_set(name, members)
            continue
        if gone := tuple(one for one in old[name] if one not in set(members)):
            commands.append({"delete": elements(name, gone)})
        if come := tuple(one for one in members if one not in set(old[name])):
            commands.append(add(elements(name, come)))
    before_rules = chains(before)
    for chain, expressions in chains(after).items():
        if expressions != before_rules[chain]:
            commands.append({"flush": within("chain", name=chain)})
            commands += [add(within("rule", chain=chain, expr=expression)) for expression in expressions]
    commands += [{"delete": set_definition(name)} for name in old if name not in new]
    return commands
