"""What was foretold beside what was measured: what nobody spoke of, and what was certain and did not come."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from lab import addressing as at
from tests.soak.impact_changes import WAN4, WAN6
from tests.soak.traffic_flows import ADDRESSES, Flow, Host

Json = dict[str, Any]
CORE = "OSPF on core0"
SESSIONS = (WAN4, WAN6, CORE)
_AT: dict[Host, str] = {"lan": "lan0", "wan": "wan0", "core": "core0"}
_NAMES = {"tcp": "tcp", "connect": "tcp", "udp": "udp", "forward": "udp"}
_PREFIX = re.compile(r"(?<![\w.:])(?:\d+(?:\.\d+){3}|[0-9a-f]*:[0-9a-f:]*)/\d+")
_ADDRESS = re.compile(r"(?<![\w.:])(?:\d+(?:\.\d+){3}|[0-9a-f]+:[0-9a-f:]+)(?![\w/])")
_ALL = re.compile(r"^All (IPv[46]) packets (received|sent) on ([\w.]+)")
_GONE = re.compile(r"no longer reached on ([\w.]+):|^No packet passes ([\w.]+) any more")
_BEHIND = re.compile(r"^On ([\w.]+), .* denies every (IPv[46]) packet")
_LONGEST = {4: 24, 6: 48}
_LINKS = {str(one.network) for link in (at.LAN, at.WAN, at.CORE) for one in (link.near_v4, link.near_v6)}


@dataclass
class Measured:
    """What a change did."""

    sessions: frozenset[str] = frozenset()
    """Those that were up, and were lost for a moment at least."""
    disturbed: dict[Flow, str] = field(default_factory=dict)
    """Flows that passed before and lost something, with how much."""
    silent: frozenset[Flow] = frozenset()
    """Of those, the ones of which nothing passes in the end."""
    before: frozenset[Flow] = frozenset()
    """Flows that passed before."""
    routes: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By ``received from`` or ``sent to`` a neighbor: prefixes before, and fewest after."""
    died: tuple[str, ...] = ()
    """Programs that were started anew."""
    pause_s: float = 0.0
    """The longest that packets were kept waiting by the machine."""


@dataclass(frozen=True)
class Foretold:
    """A plan: findings of its result, and what its steps do."""

    findings: tuple[Json, ...]
    impacts: tuple[str, ...]
    document: Mapping[str, Any]
    """The document after the change."""
    outside: frozenset[str] = frozenset()
    """Interfaces that are NAT's outside, before or after."""


@dataclass
class Verdict:
    """How both compare."""

    untold: list[str] = field(default_factory=list)
    """Lost, and nothing spoke of it."""
    certain: dict[str, bool | None] = field(default_factory=dict)
    """By sentence, whether it came; None where this campaign cannot tell."""
    possible: dict[str, bool | None] = field(default_factory=dict)
    steps: dict[str, bool] = field(default_factory=dict)
    """By what the steps do, whether anything of it was noticed."""

    @property
    def alarms(self) -> list[str]:
        """Certain, and did not come."""
        return [text for text, came in self.certain.items() if came is False]

    @property
    def is_wrong(self) -> bool:
        """Whether something was not as it was foretold."""
        return bool(self.untold or self.alarms)


def judged(told: Foretold, measured: Measured) -> Verdict:
    """The verdict of a round."""
    verdict = Verdict()
    named = {name for one in told.findings for name in sessions_of(one["text"])}
    named |= {name for words in told.impacts for name in _reset(words)}
    verdict.untold += [f"{name} was lost" for name in sorted(measured.sessions - named)]
    untold: dict[str, list[str]] = {}
    for flow, how in measured.disturbed.items():
        if not any(covers(one, flow, told.outside) for one in told.findings) and not any(
            _disturbs(words, flow, told.outside) for words in told.impacts
        ):
            untold.setdefault(f"{flow.family} {flow.source}->{flow.target}", []).append(
                f"{flow.protocol} {flow.size_bytes}: {how}"
            )
    verdict.untold += [f"{pair} lost packets ({'; '.join(how)})" for pair, how in untold.items()]
    for what, (before, after) in measured.routes.items():
        speaks = any(_speaks_of_routes(one, what) for one in told.findings)
        speaks = speaks or any(name in what for words in told.impacts for name in _reset(words))
        if after < before and not speaks:
            verdict.untold.append(f"routes {what}: {before} before, {after} after")
    for one in told.findings:
        came = _came(one, told, measured)
        (verdict.certain if one["grade"] == "certain" else verdict.possible)[one["text"]] = came
    for words in told.impacts:
        verdict.steps[words] = bool(_reset(words) & measured.sessions) or any(
            _disturbs(words, flow, told.outside) for flow in measured.disturbed
        )
    return verdict


def sessions_of(text: str) -> set[str]:
    """Sessions a sentence speaks of."""
    found = set(_ADDRESS.findall(text)) & {WAN4, WAN6}
    # What it prefers is no word about an adjacency.
    if "OSPF" in text and ("core0" in text or "adjacenc" in text) and "another way" not in text:
        found.add(CORE)
    return found


def _reset(words: str) -> set[str]:
    """Sessions that a step's impact speaks of."""
    if words.startswith("restarts "):
        return set(SESSIONS)
    if words.startswith("resets ospf"):
        return {CORE}
    return sessions_of(words) if words.startswith("resets bgp") else set()


def _ways(flow: Flow) -> Iterator[tuple[str, str]]:
    """By which interfaces its packets come to the router, and leave it."""
    yield _AT[flow.source], _AT[flow.target]
    if flow.both_ways:
        yield _AT[flow.target], _AT[flow.source]


def interfaces_of(flow: Flow) -> set[str]:
    """Those it passes."""
    return {_AT[flow.source], _AT[flow.target]}


def _leads_to(flow: Flow, prefix: str) -> bool:
    """Whether packets of the flow, or its answers, go to an address of the prefix."""
    network = ip_network(prefix, strict=False)
    ends = [flow.target, *([flow.source] if flow.both_ways else [])]
    addresses = [ip_address(ADDRESSES[end, flow.family]) for end in ends]
    return any(one.version == network.version and one in network for one in addresses)


def _concerns(flow: Flow, prefix: str) -> bool:
    """Whether one of its ends is in the prefix."""
    network = ip_network(prefix, strict=False)
    addresses = [ip_address(ADDRESSES[end, flow.family]) for end in (flow.source, flow.target)]
    return any(one.version == network.version and one in network for one in addresses)


def _rests_on(flow: Flow, session: str) -> bool:
    """Whether routes of the session lead its packets, at either end of the link."""
    if session == CORE:
        return flow.family == "IPv4" and "core0" in interfaces_of(flow)
    return flow.family == ("IPv4" if session == WAN4 else "IPv6") and "wan0" in interfaces_of(flow)


def _disturbs(words: str, flow: Flow, outside: frozenset[str]) -> bool:
    """Whether a step's impact speaks of the flow."""
    if words.startswith("ends ") and "sessions" in words:
        return flow.family == "IPv4" and bool(outside & interfaces_of(flow))
    if words.startswith("loses packets on "):
        return words.removeprefix("loses packets on ") in interfaces_of(flow) | {"port0", "lan0.7"}
    return any(_rests_on(flow, session) for session in _reset(words))


def covers(finding: Json, flow: Flow, outside: frozenset[str]) -> bool:
    """Whether the finding speaks of the flow."""
    text, path = finding["text"], finding["path"]
    families = set(re.findall(r"IPv[46]", text.replace("where IPv4 allows it", "")))
    if families and flow.family not in families:
        return False
    if (path.startswith("/nat") or "translated" in text) and "packets received on" not in text:
        return flow.family == "IPv4" and bool(outside & interfaces_of(flow))
    if any(_rests_on(flow, session) for session in sessions_of(text)):
        return True
    if finding["kind"] == "routes" and path.startswith("/routing/ospf"):
        return flow.family == "IPv4" and "core0" in interfaces_of(flow)
    if path.startswith(("/routing/static", "/routing/bgp")) or finding["kind"] == "routes":
        return any(
            _concerns(flow, prefix) for prefix in _PREFIX.findall(f"{text} {path.replace('~1', '/')}")
        ) or ("ospf routes" in text and flow.family == "IPv4" and "core0" in interfaces_of(flow))
    named = {name for name in (*_AT.values(), "port0") if re.search(rf"\b{name}\b(?!\.)", text)}
    if not named & (interfaces_of(flow) | {"port0"}):
        return False
    side = re.search(r"packets (received|sent) on ([\w.]+)", text)
    if side is not None:
        place = 0 if side[1] == "received" else 1
        return any(way[place] == side[2] for way in _ways(flow))
    return True


def _speaks_of_routes(finding: Json, what: str) -> bool:
    """Whether it speaks of routes with the neighbor ``what`` ends with, or of what brings them."""
    address = what.rpartition(" ")[2]
    text, path = finding["text"], finding["path"]
    if address in sessions_of(text):
        return True
    if what.startswith("sent to") and (CORE in sessions_of(text) or "announces" in text):
        return True
    return finding["kind"] in ("routes", "traffic") and (
        address in path or ("wan0" in text) or (what.startswith("sent to") and bool(_PREFIX.search(text)))
    )


def _came(finding: Json, told: Foretold, measured: Measured) -> bool | None:
    """Whether what a finding says happened; None where it is nothing that this campaign measures."""
    if finding["grade"] == "possible":
        return _came_in_part(finding, measured, told.outside)
    text = finding["text"]
    if finding["kind"] == "session":
        named = sessions_of(text)
        return named <= measured.sessions if named else None
    if (found := _ALL.search(text)) is not None:
        place = 0 if found[2] == "received" else 1
        return _silent(
            measured,
            lambda flow: flow.family == found[1] and any(way[place] == found[3] for way in _ways(flow)),
        )
    if (found := _GONE.search(text)) is not None:
        return _silent(measured, lambda flow: covers_link(text, found[1] or found[2], flow))
    if (found := _BEHIND.search(text)) is not None:
        return _is_denied(finding, found[1], found[2], told, measured)
    if text.startswith("Every ") and " is refused" in text:
        return all(
            after == 0
            for what, (before, after) in measured.routes.items()
            if before and what.startswith("received") and what.rpartition(" ")[2] in sessions_of(text)
        )
    prefixes = _PREFIX.findall(text)[:1]
    if text.startswith(("Packets to", "No route leads to")) and prefixes:
        network = ip_network(prefixes[0])
        if network.prefixlen < _LONGEST[network.version]:
            return None  # longer ones lead to what is measured
        return _silent(measured, lambda flow: _leads_to(flow, prefixes[0]))
    if finding["path"].startswith("/nat"):
        return any(covers(finding, flow, told.outside) for flow in measured.disturbed)
    return None


def _came_in_part(finding: Json, measured: Measured, outside: frozenset[str]) -> bool | None:
    """Whether anything of what is possible was seen."""
    named = sessions_of(finding["text"])
    if finding["kind"] == "management":
        return None
    if named & measured.sessions or any(covers(finding, flow, outside) for flow in measured.disturbed):
        return True
    return any(
        after != before and _speaks_of_routes(finding, what)
        for what, (before, after) in measured.routes.items()
    )


def covers_link(text: str, interface: str, flow: Flow) -> bool:
    """Whether the flow lives by the interface, in a family of the networks a sentence names, of which those
    without hosts in the lab do not count.
    """
    named = set(_PREFIX.findall(text))
    versions = {ip_network(prefix).version for prefix in named & _LINKS} if named else {4, 6}
    if interface == "port0":
        interface = "lan0"
    if (4 if flow.family == "IPv4" else 6) not in versions:
        return False
    # Without an address the router still takes what a host sends it that knew it before.
    only_to = "no longer has an address" in text
    return any(interface in (way[1:] if only_to else way) for way in _ways(flow))


def _silent(measured: Measured, concerned: Any) -> bool | None:
    """Whether nothing passes of what is concerned; None where nothing of it passed before."""
    flows = [flow for flow in measured.before if concerned(flow)]
    return all(flow in measured.silent for flow in flows) if flows else None


def _is_denied(finding: Json, interface: str, family: str, told: Foretold, measured: Measured) -> bool | None:
    """Whether what no earlier rule permits is dropped."""
    _, _, name, _, sequence = finding["path"].split("/")
    rules = told.document["acls"][name]["rules"]
    own = "icmp" if family == "IPv4" else "icmpv6"
    earlier = {
        rule.get("protocol", "any")
        for number, rule in rules.items()
        if int(number) < int(sequence)
        and rule["action"] != "deny"
        and rule.get("family", "ipv4") == family.lower()
    }
    if "any" in earlier:
        return None
    bound = told.document["interfaces"][interface]
    places = {place for place, side in enumerate(("acl_in", "acl_out")) if name in bound.get(side, ())}
    return _silent(
        measured,
        lambda flow: (
            flow.family == family
            and (_NAMES.get(flow.protocol, own)) not in earlier
            and any(way[place] == interface for way in _ways(flow) for place in places)
        ),
    )
