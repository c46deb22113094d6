"""Access lists as nftables JSON: pure, both ways.

Layout of table ``inet millrace``::

    map in-by-interface, out-by-interface   interface name → goto in-<name> / out-<name>
    chain ingress (prerouting), egress (postrouting)   one lookup in the map
    chain in-<interface>, out-<interface>   what always passes, sessions, fragments, jump acl-<list>…, drop
    chain acl-<list>                        one rule for each rule, its sequence as comment
    chain reflect                           marks the connection for the interface it crosses
    chain fragments                         drops those that hide from rules what the receiver will see

Semantics are those of VPP's ACL plugin, so that a document means the same on both data planes: lists are
evaluated in order, the first match decides, a packet that matches nothing is dropped, received multicast is
not filtered, and packets to and from the router itself are. Neighbour discovery always passes, as ARP does.
"""

from __future__ import annotations

import hashlib
import json
from ipaddress import ip_network
from typing import Any

from appliance.dataplane.linux.filter_rule import Binding, FilterRule
from appliance.dataplane.nftables.expressions import Json, add, match, meta, payload

TABLE = "millrace"

_NFPROTO = {"ipv4": 2, "ipv6": 10}
_PAYLOAD = {"ipv4": "ip", "ipv6": "ip6"}
_PORTS = {6: "tcp", 17: "udp"}
_ICMP = {1: "icmp", 58: "icmpv6"}
_TCP, _UDP = 6, 17
_WITH_FIELDS = [1, _TCP, _UDP, 58]
"""Protocols of which rules name ports, flags, types or codes."""
ND_TYPES = [133, 134, 135, 136, 137]
"""ICMPv6 types of neighbour discovery (RFC 4861)."""
PRIORITY = {"prerouting": -140, "postrouting": 110}
"""Rules see packets as they are on the wire: received ones after connection tracking (-200) and before
translation (-100), sent ones after translation (100).
"""


def within(kind: str, **content: Any) -> Json:
    """An object of our table."""
    return {kind: {"family": "inet", "table": TABLE, **content}}


def skeleton() -> list[Json]:
    """Commands that make the table; they change nothing if it exists."""
    return [
        add({"table": {"family": "inet", "name": TABLE}}),
        add(within("map", name="in-by-interface", type="ifname", map="verdict")),
        add(within("map", name="out-by-interface", type="ifname", map="verdict")),
        add(within("chain", name="reflect")),
        add(within("chain", name="fragments")),
        {"flush": within("chain", name="fragments")},
        *(add(one) for one in fragment_rules()),
        add(_base_chain("ingress", "prerouting")),
        add(_base_chain("egress", "postrouting")),
        {"flush": within("chain", name="ingress")},
        {"flush": within("chain", name="egress")},
        add(within("rule", chain="ingress", expr=[_by_interface("iifname", "in-by-interface")])),
        add(within("rule", chain="egress", expr=[_by_interface("oifname", "out-by-interface")])),
    ]


def fragment_rules() -> list[Json]:
    """Rules of chain ``fragments``, which every packet passes before the lists of an interface.

    A rule that names a port does not match a first fragment that is too short to hold it, nor an IPv6 one in
    which further headers come before it: whatever a list denies by a port or by flags would come through in
    such pieces, for they become whole at the receiver (RFC 1858, RFC 3128, RFC 7112). Later fragments need
    nothing, for without the first they are nothing; but one of TCP at offset 8 would replace the flags.
    """
    offset = {"&": [payload("ip", "frag-off"), 0x1FFF]}
    protocol, of_ipv6 = meta("l4proto"), {"exthdr": {"name": "frag", "field": "frag-off"}}
    leave: Json = {"return": None}
    found: list[list[Json]] = [
        [match({"&": [payload("ip", "frag-off"), 0x3FFF]}, 0), leave],
        [match({"exthdr": {"name": "frag"}}, False), leave],
        [match(offset, 1), match(protocol, _TCP), {"counter": None}, {"drop": None}],
        [match(offset, 0, "!="), leave],
        [match(of_ipv6, 0, "!="), leave],
        # A comparison that always holds asks whether the field is there.
        [match(payload("tcp", "flags"), 0, ">="), leave],
        [
            match(protocol, {"set": [one for one in _WITH_FIELDS if one != _TCP]}),
            match({"payload": {"base": "th", "offset": 0, "len": 32}}, 0, ">="),
            leave,
        ],
        # Of a protocol that is not known, since its header is not there, neither is true.
        [match(protocol, {"set": _WITH_FIELDS}, "!="), leave],
        [{"counter": None}, {"drop": None}],
    ]
    return [
        within("rule", chain="fragments", comment=_digest(expression), expr=expression)
        for expression in found
    ]


def _digest(expression: list[Json]) -> str:
    """By which a rule is known, whichever way a version of nftables shows it."""
    return hashlib.sha256(json.dumps(expression).encode()).hexdigest()[:16]


def _base_chain(name: str, hook: str) -> Json:
    return within("chain", name=name, type="filter", hook=hook, prio=PRIORITY[hook], policy="accept")


def _by_interface(key: str, name: str) -> Json:
    return {"vmap": {"key": meta(key), "data": f"@{name}"}}


def list_chain(name: str) -> str:
    """Chain of an access list."""
    return f"acl-{name}"


def rule(chain: str, wanted: FilterRule, **position: Any) -> Json:
    """The rule as nftables JSON. ``position`` may hold the handle of a neighbouring rule."""
    return within("rule", chain=chain, comment=str(wanted.sequence), expr=_expressions(wanted), **position)


def _expressions(wanted: FilterRule) -> list[Json]:
    expressions = [match(meta("nfproto"), _NFPROTO[wanted.family])]
    for field, prefix in (("saddr", wanted.source), ("daddr", wanted.destination)):
        if prefix is not None:
            network = ip_network(prefix)
            value = {"prefix": {"addr": str(network.network_address), "len": network.prefixlen}}
            expressions.append(match(payload(_PAYLOAD[wanted.family], field), value))
    if wanted.protocol:
        expressions.append(match(meta("l4proto"), wanted.protocol))
    for field, ports in (("sport", wanted.source_ports), ("dport", wanted.destination_ports)):
        if ports is not None:
            span: Any = {"range": list(ports)} if ports[0] != ports[1] else ports[0]
            expressions.append(match(payload(_PORTS[wanted.protocol], field), span))
    for field, number in (("type", wanted.icmp_type), ("code", wanted.icmp_code)):
        if number is not None:
            expressions.append(match(payload(_ICMP[wanted.protocol], field), number))
    if mask := wanted.tcp_set | wanted.tcp_unset:
        expressions.append(match({"&": [payload("tcp", "flags"), mask]}, wanted.tcp_set))
    expressions.append({"counter": None})
    expressions.append(
        {"goto": {"target": "reflect"}} if wanted.action == "permit_reflect" else _verdict(wanted.action)
    )
    return expressions


def _verdict(action: str) -> Json:
    return {"accept": None} if action == "permit" else {"drop": None}


def binding_rules(chain: str, lists: tuple[str, ...], inbound: bool, bit: int | None) -> list[Json]:
    """Rules of an interface's chain. ``bit`` is its bit of the connection mark, where it reflects."""
    expressions: list[list[Json]] = []
    if inbound:
        for header, multicast in (("ip", ("224.0.0.0", 4)), ("ip6", ("ff00::", 8))):
            prefix = {"prefix": {"addr": multicast[0], "len": multicast[1]}}
            expressions.append([match(payload(header, "daddr"), prefix), {"accept": None}])
    expressions.append([match(payload("icmpv6", "type"), {"set": ND_TYPES}), {"accept": None}])
    if bit is not None:
        marked = match({"&": [{"ct": {"key": "mark"}}, bit]}, 0, "!=")
        expressions.append([marked, {"accept": None}])
    expressions.append([{"jump": {"target": "fragments"}}])
    expressions += [[{"jump": {"target": list_chain(name)}}] for name in lists]
    expressions.append([{"counter": None}, {"drop": None}])
    return [within("rule", chain=chain, expr=expression) for expression in expressions]


def reflect_rules(bits: dict[str, int]) -> list[Json]:
    """Rules of chain ``reflect``: a packet is marked for the interface it leaves by, else for its input."""
    rules = [
        within("rule", chain="reflect", expr=[match(meta(key), interface), _mark(bit), {"accept": None}])
        for key in ("oifname", "iifname")
        for interface, bit in sorted(bits.items())
    ]
    return [*rules, within("rule", chain="reflect", expr=[{"accept": None}])]


def _mark(bit: int) -> Json:
    mark = {"ct": {"key": "mark"}}
    return {"mangle": {"key": mark, "value": {"|": [mark, bit]}}}


def binding_chains(binding: Binding) -> list[tuple[str, str, tuple[str, ...], bool]]:
    """Of a binding: (map, chain, lists, inbound) for each direction that has access lists."""
    chains = []
    if binding.inbound:
        chains.append(("in-by-interface", f"in-{binding.interface}", binding.inbound, True))
    if binding.outbound:
        chains.append(("out-by-interface", f"out-{binding.interface}", binding.outbound, False))
    return chains


def element(map_name: str, interface: str, chain: str) -> Json:
    """The map's entry that leads an interface's packets into its chain."""
    return within("element", name=map_name, elem=[[interface, {"goto": {"target": chain}}]])
