"""Translation as nftables rules: pure, both ways.

Layout of table ``inet millrace_nat``::

    set inside, outside         names of interfaces
    map overload                outside interface -> its address
    map static-in, static-out   outside address -> inside address, and back
    map forwards                outside address, protocol, port -> inside address, port
    set users                   inside addresses, each with the sessions it has (with a limit only)
    chain inward (prerouting)   what comes to an outside address goes on to the inside host: in chain mapped
    chain limited (forward)     sessions above the limit of a user are dropped
    chain outward (postrouting) no-NAT rules, 1:1 mappings, then the interface's address or one of the pool

It is written in nftables' own language, for the program's JSON has no maps of several fields, and read as
JSON. The comment of each rule is a digest of its text: rules are compared by it, whichever way a version of
nftables shows them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from appliance.dataplane.nftables.expressions import Json

TABLE = "millrace_nat"
_PROTOCOLS = {6: "tcp", 17: "udp"}
_MOST_USERS = 65536
_BASES = {
    "inward": ("nat", "prerouting", -100),
    "limited": ("filter", "forward", 0),
    "outward": ("nat", "postrouting", 100),
}
"""Type, hook and priority. Access lists see packets before the first and after the last: as on the wire."""
_SETS = {"inside": "ifname", "outside": "ifname"}
_MAPS = {
    "overload": "ifname : ipv4_addr",
    "static-in": "ipv4_addr : ipv4_addr",
    "static-out": "ipv4_addr : ipv4_addr",
    "forwards": "ipv4_addr . inet_proto . inet_service : ipv4_addr . inet_service",
}


@dataclass(frozen=True, order=True)
class Forward:
    """A port of an outside address, and the inside host it leads to. ``protocol`` is tcp or udp."""

    outside: str
    protocol: str
    outside_port: int
    inside: str
    inside_port: int


@dataclass(frozen=True)
class Translation:
    """Which sessions are translated, and to what. Names and mappings are sorted."""

    inside_interfaces: tuple[str, ...] = ()
    outside_interfaces: tuple[str, ...] = ()
    overload: tuple[tuple[str, str], ...] = ()
    """Outside interface and its address."""
    pool: tuple[str, ...] = ()
    no_nat: tuple[tuple[str, str], ...] = ()
    """Source and destination, in order; 0.0.0.0/0 is any."""
    sessions_per_user: int | None = None
    altered: bool = False
    """Another program changed the table: never set in the desired state."""

    @property
    def addresses(self) -> set[str]:
        """Everything that sessions are translated to, except mappings."""
        return {*self.pool, *(address for _, address in self.overload)}


@dataclass(frozen=True)
class Mappings:
    """What leads packets inside. Sorted."""

    static: tuple[tuple[str, str], ...] = ()
    """Outside and inside address."""
    forwards: tuple[Forward, ...] = ()

    def elements(self) -> dict[str, dict[str, str]]:
        """The content of the maps, in nftables' words."""
        return {
            "static-in": dict(self.static),
            "static-out": {inside: outside for outside, inside in self.static},
            "forwards": {
                f"{one.outside} . {one.protocol} . {one.outside_port}": f"{one.inside} . {one.inside_port}"
                for one in self.forwards
            },
        }


@dataclass(frozen=True)
class Reading:
    """The table's content."""

    translation: Translation
    mappings: Mappings = field(default_factory=Mappings)


# -- writing


def rules(wanted: Translation) -> Iterator[tuple[str, str]]:
    """Chain and text of each rule, in order."""
    for edge in ("outside", "inside"):
        yield "inward", f"iifname @{edge} jump mapped"
    yield "mapped", "dnat ip to ip daddr . meta l4proto . th dport map @forwards"
    yield "mapped", "dnat ip to ip daddr map @static-in"
    if wanted.sessions_per_user is not None:
        count = f"ip saddr ct count over {wanted.sessions_per_user}"
        yield (
            "limited",
            f"iifname @inside oifname @outside ct state new add @users {{ {count} }} counter drop",
        )
    out = "iifname @inside oifname @outside"
    for source, destination in wanted.no_nat:
        matches = [f"ip {name} {value}" for name, value in (("saddr", source), ("daddr", destination))]
        said = " ".join(one for one in matches if not one.endswith("/0"))
        yield "outward", f"{out} {said} accept".replace("  ", " ")
    # An inside host that contacts an outside address gets its answer by way of the router, or not at all.
    hairpin = "iifname @inside oifname @inside ct status dnat"
    yield "outward", f"{hairpin} snat ip to ip saddr map @static-out"
    yield "outward", f"{hairpin} snat ip to ct original ip daddr"
    yield "outward", f"{out} snat ip to ip saddr map @static-out"
    if wanted.overload:
        yield "outward", f"{out} snat ip to oifname map @overload"
    if wanted.pool:
        chosen = ", ".join(f"{place} : {address}" for place, address in enumerate(wanted.pool))
        size = len(wanted.pool)
        yield "outward", f"{out} snat ip to jhash ip saddr mod {size} seed 0x1 map {{ {chosen} }}"


def _comment(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def whole_table(wanted: Translation, mappings: Mappings) -> str:
    """The script that makes the table anew, replacing an existing one."""
    lines = [f"add table inet {TABLE}", f"delete table inet {TABLE}", f"add table inet {TABLE}"]
    lines += [f"add set inet {TABLE} {name} {{ type {kind}; }}" for name, kind in _SETS.items()]
    lines += [f"add map inet {TABLE} {name} {{ type {kind}; }}" for name, kind in _MAPS.items()]
    lines.append(f"add chain inet {TABLE} mapped")
    for name, (purpose, hook, priority) in _BASES.items():
        base = f"type {purpose} hook {hook} priority {priority}; policy accept;"
        lines.append(f"add chain inet {TABLE} {name} {{ {base} }}")
    lines += _filled(Translation(), wanted)
    lines += _rules(wanted)
    lines += _differences(Mappings(), mappings)
    return "\n".join(lines) + "\n"


def translation_changes(before: Translation, after: Translation) -> str:
    """The script from one to the other; mappings stay."""
    lines = [f"flush chain inet {TABLE} {name}" for name in (*_BASES, "mapped")]
    if before.sessions_per_user is not None:
        lines.append(f"delete set inet {TABLE} users")
    return "\n".join([*lines, *_filled(before, after), *_rules(after)]) + "\n"


def mapping_changes(before: Mappings, after: Mappings) -> str:
    """The script from one to the other; unchanged entries are not touched."""
    return "\n".join(_differences(before, after)) + "\n"


def _filled(before: Translation, after: Translation) -> list[str]:
    lines = []
    for name in _SETS:
        lines += _members(
            name, set(getattr(before, f"{name}_interfaces")), getattr(after, f"{name}_interfaces")
        )
    if before.overload != after.overload:
        if before.overload:
            lines.append(f"flush map inet {TABLE} overload")
        pairs = ", ".join(f'"{interface}" : {address}' for interface, address in after.overload)
        if pairs:
            lines.append(f"add element inet {TABLE} overload {{ {pairs} }}")
    if after.sessions_per_user is not None:
        kind = f"type ipv4_addr; flags dynamic; size {_MOST_USERS};"
        lines.append(f"add set inet {TABLE} users {{ {kind} }}")
    return lines


def _members(name: str, before: set[str], after: Iterable[str]) -> list[str]:
    wanted = set(after)
    lines = []
    for verb, names in (("delete", before - wanted), ("add", wanted - before)):
        if names:
            quoted = ", ".join(f'"{one}"' for one in sorted(names))
            lines.append(f"{verb} element inet {TABLE} {name} {{ {quoted} }}")
    return lines


def _rules(wanted: Translation) -> list[str]:
    return [
        f'add rule inet {TABLE} {chain} {text} comment "{_comment(text)}"' for chain, text in rules(wanted)
    ]


def _differences(before: Mappings, after: Mappings) -> list[str]:
    lines = []
    old, new = before.elements(), after.elements()
    for name in new:
        gone = [key for key, value in old[name].items() if new[name].get(key) != value]
        come = [f"{key} : {value}" for key, value in new[name].items() if old[name].get(key) != value]
        for verb, elements in (("delete", gone), ("add", come)):
            if elements:
                lines.append(f"{verb} element inet {TABLE} {name} {{ {', '.join(elements)} }}")
    return lines


# -- reading


def read(listing: Json) -> Reading:
    """The answer of ``nft --json --numeric list table inet millrace_nat``."""
    bases: dict[str, tuple[str, str, int]] = {}
    comments: list[tuple[str, str]] = []
    expressions: dict[str, list[list[Json]]] = {}
    elements: dict[str, list[Any]] = {}
    for item in listing["nftables"]:
        if chain := item.get("chain"):
            if "hook" in chain:
                bases[chain["name"]] = (chain["type"], chain["hook"], chain["prio"])
        elif rule := item.get("rule"):
            comments.append((rule["chain"], rule.get("comment", "")))
            expressions.setdefault(rule["chain"], []).append(rule["expr"])
        elif (known := item.get("set") or item.get("map")) is not None:
            elements[known["name"]] = known.get("elem", [])
    found = Translation(
        tuple(sorted(map(str, elements.get("inside", ())))),
        tuple(sorted(map(str, elements.get("outside", ())))),
        tuple(sorted((str(name), str(address)) for name, address in elements.get("overload", ()))),
        _pool(expressions.get("outward", [])),
        _no_nat(expressions.get("outward", [])),
        _limit(expressions.get("limited", [])),
    )
    static = tuple(sorted((str(key), str(value)) for key, value in elements.get("static-in", ())))
    back = {str(key): str(value) for key, value in elements.get("static-out", ())}
    mappings = Mappings(static, tuple(sorted(_forwards(elements.get("forwards", [])))))
    wanted = [(chain, _comment(text)) for chain, text in rules(found)]
    intact = (
        bases == _BASES
        and _by_chain(comments) == _by_chain(wanted)
        and back == {inside: outside for outside, inside in static}
    )
    return Reading(found if intact else replace(found, altered=True), mappings)


def _by_chain(rules: list[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for chain, comment in rules:
        found.setdefault(chain, []).append(comment)
    return found


def _forwards(elements: list[Any]) -> Iterator[Forward]:
    for key, value in elements:
        address, protocol, port = key["concat"]
        inside, inside_port = value["concat"]
        name = _PROTOCOLS.get(protocol, str(protocol)) if isinstance(protocol, int) else str(protocol)
        yield Forward(str(address), name, int(port), str(inside), int(inside_port))


def _pool(rules: list[list[Json]]) -> tuple[str, ...]:
    for expressions in rules:
        target = expressions[-1].get("snat", {}).get("addr")
        data = target.get("map", {}).get("data") if isinstance(target, dict) else None
        if isinstance(data, dict) and "set" in data:
            return tuple(str(address) for _, address in data["set"])
    return ()


def _no_nat(rules: list[list[Json]]) -> tuple[tuple[str, str], ...]:
    found = []
    for expressions in rules:
        if "accept" not in expressions[-1]:
            continue
        sides = {"saddr": "0.0.0.0/0", "daddr": "0.0.0.0/0"}
        for expression in expressions:
            matched = expression.get("match", {})
            name = matched.get("left", {}).get("payload", {}).get("field") if matched else None
            if name in sides:
                right = matched["right"]
                whole = isinstance(right, str)
                sides[name] = (
                    f"{right}/32" if whole else f"{right['prefix']['addr']}/{right['prefix']['len']}"
                )
        found.append((sides["saddr"], sides["daddr"]))
    return tuple(found)


def _limit(rules: list[list[Json]]) -> int | None:
    for expressions in rules:
        for expression in expressions:
            for statement in expression.get("set", {}).get("stmt", ()):
                if "ct count" in statement:
                    return int(statement["ct count"]["val"])
    return None
