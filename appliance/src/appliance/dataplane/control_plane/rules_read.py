"""What nftables says it has, read back into what the router lets in. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from typing import Any

from appliance.config.services import MANAGEMENT, Opening, OpenLink, Peer, services
from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.control_plane.rules import (
    HOOK,
    NFPROTO,
    chains,
    interface_sets,
    is_of_peers,
    links_set,
    peer_sets,
    set_definition,
)
from appliance.dataplane.nftables.expressions import Json

_TCP_FLAGS = {"fin": 0x01, "syn": 0x02, "rst": 0x04, "psh": 0x08, "ack": 0x10, "urg": 0x20}
_PORT_UNREACHABLE = ("port-unreachable", 1)
_EVERYBODY = {NFPROTO["ipv4"]: "0.0.0.0/0", NFPROTO["ipv6"]: "::/0"}
_SERVICE = {port: service for service, port in MANAGEMENT.items()}


@dataclass(frozen=True)
class Reading:
    """What is in our table."""

    control_plane: ControlPlane
    packets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Packets by set and interface, of the sets that count."""


def read(listing: Json) -> Reading:
    """The answer of ``nft --json --numeric list table inet millrace_control``."""
    hooks: dict[str, Any] = {}
    rules: dict[str, list[list[Json]]] = {}
    sets: dict[str, Json] = {}
    for item in listing["nftables"]:
        if chain := item.get("chain"):
            rules.setdefault(chain["name"], [])
            if "hook" in chain:
                hooks[chain["name"]] = (chain["hook"], chain["prio"], chain["policy"])
        elif rule := item.get("rule"):
            rules.setdefault(rule["chain"], []).append(rule["expr"])
        elif known := item.get("set"):
            sets[known["name"]] = known
    members = {name: tuple(_member(one) for one in known.get("elem", ())) for name, known in sets.items()}
    read_back = ControlPlane(
        interfaces=tuple(sorted(members.get("guarded", ()))),
        peers=_peers(members),
        links=_links(members),
        management=_openings(rules.get("management", [])),
    )
    intact = hooks == {"input": HOOK} and _same_sets(sets, members, read_back) and _same(rules, read_back)
    packets = {
        name: {_member(one): _packets(one) for one in known.get("elem", ())}
        for name, known in sets.items()
        if name.startswith(("accepted-", "dropped-"))
    }
    return Reading(read_back if intact else replace(read_back, altered=True), packets)


def _member(element: Any) -> str:
    value = element["elem"]["val"] if isinstance(element, dict) and "elem" in element else element
    if isinstance(value, dict) and "prefix" in value:
        return f"{value['prefix']['addr']}/{value['prefix']['len']}"
    return str(value)


def _packets(element: Any) -> int:
    counter = element["elem"].get("counter") if isinstance(element, dict) and "elem" in element else None
    return int(counter["packets"]) if counter else 0


def _peers(members: Mapping[str, tuple[str, ...]]) -> tuple[Peer, ...]:
    """Of sets that are not of our making there are none: they make the table an altered one."""
    peers = []
    for name, prefixes in members.items():
        reason, _, rest = name.partition("-")
        form = rest.partition("-")[2]
        if reason in services() and form in services()[reason].forms:
            peers += [Peer(reason, _canonical(prefix), form) for prefix in prefixes]
    return tuple(sorted(peers))


def _links(members: Mapping[str, tuple[str, ...]]) -> tuple[OpenLink, ...]:
    return tuple(
        sorted(
            OpenLink(reason, name)
            for reason, service in services().items()
            if service.links
            for name in members.get(links_set(service), ())
        )
    )


def _canonical(text: str) -> str:
    """A prefix; nftables leaves the length of a single address out, and gives odd ranges as they are."""
    try:
        return str(ip_network(text))
    except ValueError:
        return text


def _openings(rules: list[list[Json]]) -> tuple[Opening, ...]:
    """As far as they are of our making; what is not makes the table an altered one."""
    openings = []
    for expressions in rules:
        found: dict[str, Any] = {}
        for expression in expressions:
            matched = expression.get("match", {})
            left, right = matched.get("left", {}), matched.get("right")
            if left == {"meta": {"key": "iifname"}} and not str(right).startswith("@"):
                found["interface"] = str(right)
            elif left == {"meta": {"key": "nfproto"}}:
                found["source"] = _EVERYBODY.get(right, "") if isinstance(right, int) else ""
            elif isinstance(left, dict) and left.get("payload", {}).get("field") == "saddr":
                found["source"] = _canonical(_member(right))
            elif isinstance(left, dict) and left.get("payload", {}).get("field") == "dport":
                found["service"] = _SERVICE.get(right, "") if isinstance(right, int) else ""
        if {"interface", "service"} <= found.keys() and found["service"]:
            openings.append(Opening(**found))
    return tuple(sorted(openings))


def _same_sets(
    sets: Mapping[str, Json], members: Mapping[str, tuple[str, ...]], read_back: ControlPlane
) -> bool:
    wanted = {name: set(held) for name, held in interface_sets(read_back).items()}
    wanted |= {name: set(held) for name, held in peer_sets(read_back).items()}
    return (
        sets.keys() == wanted.keys()
        and all(_declared(known) == _declared(set_definition(name)["set"]) for name, known in sets.items())
        and all(
            ({_canonical(one) for one in members[name]} if is_of_peers(name) else set(members[name])) == held
            for name, held in wanted.items()
        )
    )


def _declared(known: Json) -> Json:
    return {key: known[key] for key in ("type", "flags", "stmt") if key in known}


def _same(rules: Mapping[str, list[list[Json]]], read_back: ControlPlane) -> bool:
    return {
        name: [[_plain(expression) for expression in rule] for rule in found] for name, found in rules.items()
    } == {
        name: [[_plain(expression) for expression in rule] for rule in wanted]
        for name, wanted in chains(read_back).items()
    }


def _plain(expression: Json) -> Json:
    """The expression in one of the several forms that versions of nftables give it."""
    if "reject" in expression:
        kind, reason = expression["reject"].get("type"), expression["reject"].get("expr")
        return {"reject": (kind, "port-unreachable" if reason in _PORT_UNREACHABLE else reason)}
    matched = expression.get("match")
    if matched is None:
        return expression
    left, right, op = matched["left"], matched["right"], matched["op"]
    flags = {"payload": {"protocol": "tcp", "field": "flags"}}
    if isinstance(left, dict) and "&" in left and left["&"][0] == flags and op == "!=" and right == 0:
        return {"any flag": _bits(left["&"][1])}
    if left == flags and op == "in":
        return {"any flag": _bits(right)}
    return expression


def _bits(value: Any) -> int:
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return _TCP_FLAGS.get(value, 0)
    bits = 0
    for part in value["|"] if isinstance(value, dict) else value:
        bits |= _bits(part)
    return bits
