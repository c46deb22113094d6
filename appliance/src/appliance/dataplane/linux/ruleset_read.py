"""The listing of nftables, read back into access lists and bindings."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any, Literal

from appliance.dataplane.base import RuleCounters
from appliance.dataplane.linux.filter_rule import FilterRule, Foreign, ReadBinding
from appliance.dataplane.linux.ruleset import PRIORITY, binding_rules, fragment_rules, reflect_rules
from appliance.dataplane.nftables.expressions import Json

_FAMILY = {2: "ipv4", 10: "ipv6"}
_OF_PAYLOAD = {"ip": "ipv4", "ip6": "ipv6", "icmp": "ipv4", "icmpv6": "ipv6"}
_PROTOCOL = {"tcp": 6, "udp": 17, "icmp": 1, "icmpv6": 58}


BROKEN = "?"
"""Stands for the lists of a binding that does not work; no access list has this name."""


class _NotOurs(Exception):
    """This program writes no such rule."""


@dataclass(frozen=True)
class ReadRule:
    """A rule of an access list with its handle, which identifies it in changes, and its hits."""

    handle: int
    rule: FilterRule | Foreign
    hits: RuleCounters


@dataclass(frozen=True)
class Ruleset:
    """Everything in our table."""

    present: bool = False
    whole: bool = False
    """The base chains and maps are as this program makes them."""
    lists: dict[str, tuple[ReadRule, ...]] = field(default_factory=dict)
    bindings: dict[str, ReadBinding] = field(default_factory=dict)
    bits: dict[str, int] = field(default_factory=dict)
    """Each reflecting interface's bit of the connection mark."""
    default_drops: int = 0
    """Packets that no rule of their interface's access lists matched."""


def read(listing: Json) -> Ruleset:
    """The answer of ``nft --json --numeric list table inet millrace``."""
    chains: dict[str, list[Json]] = {}
    hooks: dict[str, tuple[Any, ...]] = {}
    maps: dict[str, dict[str, str]] = {}
    for item in listing["nftables"]:
        if chain := item.get("chain"):
            chains.setdefault(chain["name"], [])
            hooks[chain["name"]] = (chain.get("hook"), chain.get("prio"), chain.get("policy"))
        elif entry := item.get("rule"):
            chains.setdefault(entry["chain"], []).append(entry)
        elif known := item.get("map"):
            maps[known["name"]] = {
                key: target.get("goto", {}).get("target", "") for key, target in known.get("elem", [])
            }
    lists = {
        name.removeprefix("acl-"): tuple(_read_rule(entry) for entry in rules)
        for name, rules in chains.items()
        if name.startswith("acl-")
    }
    bits = _bits(chains.get("reflect", []))
    whole = (
        hooks.get("ingress") == ("prerouting", PRIORITY["prerouting"], "accept")
        and hooks.get("egress") == ("postrouting", PRIORITY["postrouting"], "accept")
        and [_vmap(rule) for rule in chains["ingress"]] == [("iifname", "@in-by-interface")]
        and [_vmap(rule) for rule in chains["egress"]] == [("oifname", "@out-by-interface")]
        and {"in-by-interface", "out-by-interface"} <= maps.keys()
        and "reflect" in chains
        and _comments(chains.get("fragments", [])) == [rule["rule"]["comment"] for rule in fragment_rules()]
    )
    bindings, drops = _bindings(chains, maps, bits, whole)
    return Ruleset(True, whole, lists, bindings, bits, drops + _counted(chains.get("fragments", [])))


def _comments(rules: list[Json]) -> list[str]:
    return [rule.get("comment", "") for rule in rules]


def _counted(rules: list[Json]) -> int:
    """Packets that the rules' counters have."""
    expressions = (expression for rule in rules for expression in rule["expr"])
    return sum(int(one["counter"]["packets"]) for one in expressions if "counter" in one)


def _vmap(rule: Json) -> tuple[Any, Any] | None:
    if len(rule["expr"]) != 1 or "vmap" not in rule["expr"][0]:
        return None
    vmap = rule["expr"][0]["vmap"]
    return vmap["key"].get("meta", {}).get("key"), vmap["data"]


def _read_rule(entry: Json) -> ReadRule:
    hits = RuleCounters()
    for expression in entry["expr"]:
        if "counter" in expression:
            hits = RuleCounters(expression["counter"]["packets"], expression["counter"]["bytes"])
    try:
        rule: FilterRule | Foreign = _parse(entry)
    except (_NotOurs, KeyError, TypeError, ValueError):
        rule = Foreign(json.dumps(_without_counts(entry["expr"])))
    return ReadRule(entry["handle"], rule, hits)


def _parse(entry: Json) -> FilterRule:
    found: dict[str, Any] = {}
    for expression in entry["expr"]:
        if match := expression.get("match"):
            _parse_match(match, found)
    verdict = entry["expr"][-1]
    action: Literal["permit", "deny", "permit_reflect"]
    if verdict == {"goto": {"target": "reflect"}}:
        action = "permit_reflect"
    elif verdict == {"accept": None}:
        action = "permit"
    elif verdict == {"drop": None}:
        action = "deny"
    else:
        raise _NotOurs
    if not {key for expression in entry["expr"][:-1] for key in expression} <= {"match", "counter"}:
        raise _NotOurs
    if "family" not in found:
        found["family"] = _OF_PAYLOAD["icmp" if found["protocol"] == 1 else "icmpv6"]
    return FilterRule(sequence=int(entry["comment"]), action=action, **found)


def _parse_match(match: Json, found: dict[str, Any]) -> None:
    left, right, op = match["left"], match["right"], match["op"]
    if "&" in left or op == "!":
        _parse_flags(left, right, op, found)
        return
    if op != "==":
        raise _NotOurs
    if "meta" in left:
        if left["meta"]["key"] == "nfproto":
            found["family"] = _FAMILY[right]
        elif left["meta"]["key"] == "l4proto":
            found["protocol"] = int(right)
        else:
            raise _NotOurs
        return
    protocol, name = left["payload"]["protocol"], left["payload"]["field"]
    if protocol in _OF_PAYLOAD:
        found["family"] = _OF_PAYLOAD[protocol]
    if protocol in _PROTOCOL:
        found["protocol"] = _PROTOCOL[protocol]
    if name in ("saddr", "daddr"):
        found["source" if name == "saddr" else "destination"] = _prefix(right)
    elif name in ("sport", "dport"):
        low, high = right["range"] if isinstance(right, dict) else (right, right)
        found["source_ports" if name == "sport" else "destination_ports"] = (int(low), int(high))
    elif name in ("type", "code"):
        found[f"icmp_{name}"] = int(right)
    else:
        raise _NotOurs


def _parse_flags(left: Json, right: Any, op: str, found: dict[str, Any]) -> None:
    payload, mask = left.get("&", (left, right))
    if payload != {"payload": {"protocol": "tcp", "field": "flags"}}:
        raise _NotOurs
    found["protocol"] = 6
    bits = _flag_bits(mask)
    if op == "!":
        found["tcp_unset"] = bits
    elif op == "==":
        found["tcp_set"] = _flag_bits(right)
        found["tcp_unset"] = bits & ~found["tcp_set"]
    else:
        raise _NotOurs


def _flag_bits(value: Any) -> int:
    if isinstance(value, int):
        return value
    if isinstance(value, dict):
        value = value["|"]
    bits = 0
    for part in value:
        bits |= _flag_bits(part)
    return bits


def _prefix(right: Any) -> str:
    if isinstance(right, dict):
        return str(ip_network(f"{right['prefix']['addr']}/{right['prefix']['len']}"))
    return str(ip_network(right))


def _bits(rules: list[Json]) -> dict[str, int]:
    bits = {}
    for entry in rules:
        match = entry["expr"][0].get("match")
        if match and len(entry["expr"]) == 3 and "mangle" in entry["expr"][1]:
            bits[match["right"]] = int(entry["expr"][1]["mangle"]["value"]["|"][1])
    return bits if _same(rules, reflect_rules(bits)) else {}


def _bindings(
    chains: dict[str, list[Json]], maps: dict[str, dict[str, str]], bits: dict[str, int], whole: bool
) -> tuple[dict[str, ReadBinding], int]:
    """Only intact chains that the maps lead to are bindings; others never equal a desired binding."""
    lists: dict[str, dict[str, tuple[str, ...]]] = {}
    reflecting: set[str] = set()
    drops = 0
    for prefix, inbound in (("in", True), ("out", False)):
        for interface, chain in maps.get(f"{prefix}-by-interface", {}).items():
            rules = chains.get(chain, [])
            names = tuple(
                entry["expr"][0]["jump"]["target"].removeprefix("acl-")
                for entry in rules
                if entry["expr"][0].get("jump", {}).get("target", "").startswith("acl-")
            )
            marked = any("ct" in json.dumps(entry["expr"]) for entry in rules)
            bit = bits.get(interface) if marked else None
            wanted = binding_rules(chain, names, inbound, bit)
            if not whole or chain != f"{prefix}-{interface}" or not _same(rules, wanted):
                names = (BROKEN,)
            if bit is not None:
                reflecting.add(interface)
            lists.setdefault(interface, {})[prefix] = names
            if rules and "counter" in rules[-1]["expr"][0]:
                drops += rules[-1]["expr"][0]["counter"]["packets"]
    bindings = {
        interface: ReadBinding(interface, known.get("in", ()), known.get("out", ()), interface in reflecting)
        for interface, known in lists.items()
    }
    return bindings, drops


def _same(found: list[Json], wanted: list[Json]) -> bool:
    return [_without_counts(entry["expr"]) for entry in found] == [
        _without_counts(entry["rule"]["expr"]) for entry in wanted
    ]


def _without_counts(expressions: list[Json]) -> list[Json]:
    return [{"counter": None} if "counter" in expression else expression for expression in expressions]
