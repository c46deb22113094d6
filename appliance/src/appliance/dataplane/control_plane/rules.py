"""What the router lets in, as nftables JSON. Pure.

Layout of table ``inet millrace_control``::

    chain input (input)                 packets of the guarded interfaces go on in chain protect
    chain protect                       by protocol into the chains below; else dropped
    chain bgp, ospf, bfd, tunnel, echo, icmp, traceroute, management
    set guarded                         names of the guarded interfaces
    set bgp-<family>-<TTL>              neighbors by address; TTL is the least their packets may have
    set bfd-<family>-<link or far>      neighbors by address, on the link or several hops away
    set tunnel-<family>-<protocol>      other ends of tunnels by address
    set links-bfd                       interfaces on which any neighbor may speak BFD
    set accepted-<reason>, dropped-<reason>, rate-<reason>
                                        interfaces, each with its own counter, or its own rate

No rule names connection tracking: what a flood would fill is not there. Nothing but the sets and the chains
``bgp``, ``bfd``, ``tunnel`` and ``management`` depends on the document, so that counts outlive a commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from appliance.dataplane.control_plane.policy import SERVICES, ControlPlane
from appliance.dataplane.nftables.expressions import Json, add, match, meta, payload, prefix

TABLE = "millrace_control"
HOOK = ("input", 0, "accept")
"""Behind the access lists, which are asked before the kernel routes."""

ACCEPTED = ("bgp", "ospf", "bfd", "tunnel", "neighbour-discovery", "echo", "icmp", "traceroute", "management")
DROPPED = ("bgp", "ospf", "bfd", "tunnel", "echo", "icmp", "traceroute", "management", "tcp", "udp", "other")
RATES = {"echo": 500, "icmp": 1000, "traceroute": 100}
"""Packets a second, and at once, of each interface."""
FAMILIES = ("ipv4", "ipv6")

_BGP = 179
_BFD, _BFD_ECHO, _BFD_FAR = 3784, 3785, 4784
_IGMP, _TCP, _UDP, _OSPF = 2, 6, 17, 89
_TUNNELS = [4, 41, 47]
"""IP in IP, IPv6 in IP, and GRE."""
NFPROTO = {"ipv4": 2, "ipv6": 10}
_ACK_OR_RST = 0x14
_TRACEROUTE = [33434, 33534]
_SOLICITATIONS = [135, 136]
# Echo reply, unreachable, time exceeded, parameter problem; of IPv6 also too big and the query for listeners.
_ANSWERS = {"icmp": [0, 3, 11, 12], "icmpv6": [1, 2, 3, 4, 129, 130]}
_ECHO_REQUEST = {"icmp": 8, "icmpv6": 128}
_SOURCE = {"ipv4": payload("ip", "saddr"), "ipv6": payload("ip6", "saddr")}
_TTL = {"ipv4": payload("ip", "ttl"), "ipv6": payload("ip6", "hoplimit")}
_FROM_THE_LINK = 255
"""TTL that no packet from further away can have."""
_ICMPX_PORT_UNREACHABLE = "port-unreachable"


def within(kind: str, **content: Any) -> Json:
    """An object of our table."""
    return {kind: {"family": "inet", "table": TABLE, **content}}


def family_of(text: str) -> str:
    """Of a prefix."""
    return "ipv6" if ":" in text else "ipv4"


def bgp_set(family: str, least_ttl: int) -> str:
    """Name of the set of a family's neighbors whose packets must have this TTL."""
    return f"bgp-{family}-{least_ttl}"


def bfd_set(family: str, *, multihop: bool) -> str:
    """Name of the set of a family's neighbors that speak BFD."""
    return f"bfd-{family}-{'far' if multihop else 'link'}"


def is_of_peers(name: str) -> bool:
    """Whether a set holds addresses of neighbors, or of the other ends of tunnels."""
    return name.startswith(("bgp-", "bfd-", "tunnel-"))


def peer_sets(wanted: ControlPlane) -> dict[str, tuple[str, ...]]:
    """Prefixes by set."""
    found: dict[str, list[str]] = {}
    for peer in wanted.bgp:
        found.setdefault(bgp_set(family_of(peer.prefix), peer.least_ttl), []).append(peer.prefix)
    for one in wanted.bfd:
        found.setdefault(bfd_set(family_of(one.prefix), multihop=one.multihop), []).append(one.prefix)
    for end in wanted.tunnels:
        found.setdefault(f"tunnel-{family_of(end.prefix)}-{end.protocol}", []).append(end.prefix)
    return {name: tuple(sorted(prefixes)) for name, prefixes in found.items()}


def interface_sets(wanted: ControlPlane) -> dict[str, tuple[str, ...]]:
    """Interfaces by set: where OSPF or management is not opened there is nothing that could be accepted."""
    sets = {"guarded": wanted.interfaces, "links-bfd": wanted.bfd_links}
    sets |= {f"accepted-{reason}": wanted.interfaces for reason in ACCEPTED}
    sets |= {f"dropped-{reason}": wanted.interfaces for reason in DROPPED}
    sets |= {f"rate-{reason}": wanted.interfaces for reason in RATES}
    sets["accepted-ospf"] = wanted.ospf
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
    return {
        "input": [[_interface_in("guarded"), _goto("protect")]],
        "protect": _protect(),
        "bgp": [*_bgp_rules(wanted), *_refused("bgp")],
        "ospf": [_accepted("ospf"), *_refused("ospf")],
        "bfd": [*_bfd_rules(wanted), *_refused("bfd")],
        "tunnel": [*_tunnel_rules(wanted), *_refused("tunnel")],
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
    flags = {"&": [payload("tcp", "flags"), _ACK_OR_RST]}
    return [
        [
            match(payload("icmpv6", "type"), {"set": _SOLICITATIONS}),
            match(_TTL["ipv6"], 255),
            *_accepted("neighbour-discovery"),
        ],
        [match(payload("tcp", "dport"), _BGP), _goto("bgp")],
        [match(payload("tcp", "sport"), _BGP), match(flags, 0, "!="), _goto("bgp")],
        [match(meta("nfproto"), NFPROTO["ipv4"]), match(meta("l4proto"), _OSPF), _goto("ospf")],
        [match(meta("l4proto"), {"set": _TUNNELS}), _goto("tunnel")],
        [match(payload("udp", "dport"), {"set": [_BFD, _BFD_ECHO, _BFD_FAR]}), _goto("bfd")],
        *([match(payload(name, "type"), number), _goto("echo")] for name, number in _ECHO_REQUEST.items()),
        *([*matches, _goto("icmp")] for matches in answers),
        [match(payload("udp", "dport"), {"range": _TRACEROUTE}), _goto("traceroute")],
        [match(payload("tcp", "dport"), {"set": sorted(SERVICES.values())}), _goto("management")],
        [match(meta("l4proto"), _TCP), _interface_in("dropped-tcp"), {"drop": None}],
        [match(meta("l4proto"), _UDP), _interface_in("dropped-udp"), {"drop": None}],
        *_refused("other"),
    ]


def _bgp_rules(wanted: ControlPlane) -> Iterator[list[Json]]:
    for name in sorted(peer_sets(wanted)):
        kind, family, *rest = name.split("-")
        if kind != "bgp":
            continue
        least_ttl = int(rest[0])
        matches = [match(_SOURCE[family], f"@{name}")]
        if least_ttl:
            matches.append(match(_TTL[family], least_ttl, ">="))
        yield [*matches, *_accepted("bgp")]


def _bfd_rules(wanted: ControlPlane) -> Iterator[list[Json]]:
    """On a link nothing that came from further away; an echo packet has been forwarded once."""
    control, echo = match(payload("udp", "dport"), _BFD), match(payload("udp", "dport"), _BFD_ECHO)
    for name in sorted(peer_sets(wanted)):
        kind, family, *rest = name.split("-")
        if kind != "bfd":
            continue
        known = match(_SOURCE[family], f"@{name}")
        if rest == ["far"]:
            yield [known, match(payload("udp", "dport"), _BFD_FAR), *_accepted("bfd")]
            continue
        yield [known, control, match(_TTL[family], _FROM_THE_LINK), *_accepted("bfd")]
        yield [known, echo, match(_TTL[family], _FROM_THE_LINK - 1, ">="), *_accepted("bfd")]
    if wanted.bfd_links:
        of_ipv4 = match(_TTL["ipv4"], _FROM_THE_LINK)
        yield [_interface_in("links-bfd"), control, of_ipv4, *_accepted("bfd")]


def _tunnel_rules(wanted: ControlPlane) -> Iterator[list[Json]]:
    for name in sorted(peer_sets(wanted)):
        kind, family, *rest = name.split("-")
        if kind == "tunnel":
            ends = match(_SOURCE[family], f"@{name}")
            yield [ends, match(meta("l4proto"), int(rest[0])), *_accepted("tunnel")]


def _management_rules(wanted: ControlPlane) -> Iterator[list[Json]]:
    for opening in wanted.management:
        matches = [match(meta("iifname"), opening.interface)]
        if opening.source:
            matches.append(_from(opening.source))
        matches.append(match(payload("tcp", "dport"), SERVICES[opening.service]))
        yield [*matches, *_accepted("management")]


def _from(source: str) -> Json:
    network = ip_network(source)
    if network.prefixlen == 0:
        return match(meta("nfproto"), NFPROTO[family_of(source)])
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
