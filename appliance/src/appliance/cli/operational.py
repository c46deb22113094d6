"""Operational commands: look at the router, and the tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.words import value_at
from appliance.client import AgentClient, StatusAnswer
from appliance.config.pointer import join
from appliance.config.secrets_in import mask


@dataclass(frozen=True)
class Output:
    """What a command says: ``data`` as JSON, ``shown`` for people."""

    data: Any
    shown: str


Show = Callable[[AgentClient, list[str]], Output]


def _none(words: list[str]) -> None:
    if words:
        raise CommandError(f"{words[0]!r} is left over")


def _one(words: list[str]) -> str | None:
    _none(words[1:])
    return words[0] if words else None


def _need(words: list[str], what: str) -> str:
    found = _one(words)
    if found is None:
        raise CommandError(f"which {what}?")
    return found


def show_config(agent: AgentClient, words: list[str]) -> Output:
    """The running document, or a part of it."""
    document = agent.config().document
    pointer = join(words)
    part = value_at(document, pointer)
    if part is None:
        raise CommandError(f"{' '.join(words)} is not set")
    shown = mask(part, pointer)
    return Output(shown, text.tree(shown))


def show_interfaces(agent: AgentClient, words: list[str]) -> Output:
    """State of all interfaces, or everything of one."""
    name = _one(words)
    rows = agent.state_interfaces()["interfaces"]
    counters = agent.counters().get("interfaces", {})
    if name is None:
        columns = ("name", "type", "enabled", "link", "mtu", "mac", "addresses")
        return Output(rows, text.table(rows, columns))
    row = next((row for row in rows if row["name"] == name), None)
    if row is None:
        raise CommandError(f"there is no interface {name}")
    both = {**row, "counters": counters.get(name)}
    lines = {**row, **(counters.get(name) or {})}
    return Output(both, _facts(lines))


def show_counters(agent: AgentClient, words: list[str]) -> Output:
    """Interface counters now."""
    _none(words)
    sample = agent.counters()
    rows = [{"interface": name, **counters} for name, counters in sample["interfaces"].items()]
    columns = ("interface", "rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_drops", "tx_drops")
    return Output(dict(sample), text.table(rows, columns))


def show_route(agent: AgentClient, words: list[str]) -> Output:
    """RIB, kernel and FIB side by side.

    ``route [ADDRESS|PREFIX [longer]] [ipv4|ipv6] [protocol NAME] [limit N]``
    """
    query: dict[str, Any] = {"limit": 100}
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        if word in ("ipv4", "ipv6"):
            query["family"] = word
        elif word == "protocol" and remaining:
            query["protocol"] = remaining.pop(0)
        elif word == "limit" and remaining:
            query["limit"] = number(remaining.pop(0), "limit")
        elif word == "longer":
            query["within"] = True
        else:
            query["prefix"] = word
    answer = agent.state_routes(**query)
    rows = [_route_row(row) for row in answer["routes"]]
    shown = text.table(rows, ("prefix", "protocol", "distance", "metric", "next_hops", "kernel", "fib"))
    total = answer.get("total")
    if isinstance(total, int) and total > len(rows):
        shown += f"\n{len(rows)} of {total} routes; `limit N` shows more"
    told = [*(text.clean(row["disagreement"]) for row in rows if row.get("disagreement")), answer.get("note")]
    if answer.get("age_s", 0) >= 1:
        told.append(f"read {answer['age_s']:.0f} s ago")
    return Output(dict(answer), "\n".join([shown, *filter(None, told)]))


def _route_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "next_hops": [_hop(hop) for hop in row["rib"] or ()],
        "kernel": _has(row, "kernel"),
        "fib": _has(row, "fib"),
    }


def _has(row: Mapping[str, Any], table: str) -> bool | str:
    return "not told" if table in row.get("untold", {}) else row.get(table) is not None


def _hop(hop: Mapping[str, Any]) -> str:
    return " ".join(str(hop[key]) for key in ("address", "interface") if hop.get(key)) or "-"


def show_bgp(agent: AgentClient, words: list[str]) -> Output:
    """BGP neighbors, or one: ``bgp [neighbors ADDRESS]``."""
    if words[:1] == ["neighbors"] and len(words) > 1:
        answer = agent.state_bgp_neighbor(_need(words[1:], "neighbor"))
        return Output(dict(answer), _facts({key: value for key, value in answer.items() if key != "detail"}))
    if words not in ([], ["neighbors"], ["summary"]):
        raise CommandError("show bgp [neighbors ADDRESS]")
    answer = agent.state_bgp()
    rows = [{"neighbor": address, **row} for address, row in answer["neighbors"].items()]
    columns = (
        "neighbor",
        "remote_asn",
        "state",
        "description",
        "messages_received",
        "messages_sent",
        "families",
    )
    return Output(dict(answer), text.table(rows, columns))


def show_ospf(agent: AgentClient, words: list[str]) -> Output:
    """OSPF neighbors and interfaces."""
    if words not in ([], ["neighbors"], ["interfaces"]):
        raise CommandError("show ospf [neighbors|interfaces]")
    answer = agent.state_ospf()
    neighbors = text.table(answer["neighbors"], ("router_id", "address", "interface", "state", "priority"))
    rows = [{"interface": name, **row} for name, row in answer["interfaces"].items()]
    interfaces = text.table(rows, ("interface", "area", "state", "type", "cost", "neighbors_full"))
    both = {"neighbors": neighbors, "interfaces": interfaces}
    shown = both[words[0]] if words else f"{neighbors}\n\n{interfaces}"
    return Output(dict(answer), shown)


def show_acl(agent: AgentClient, words: list[str]) -> Output:
    """Access lists with the hits of their rules."""
    name = _one(words)
    lists = [entry for entry in agent.state_acls()["acls"] if name in (None, entry["name"])]
    if name is not None and not lists:
        raise CommandError(f"there is no access list {name}")
    rules = agent.config().document.get("acls", {})
    parts = []
    for entry in lists:
        bound = [f"{binding['interface']} {binding['direction']}" for binding in entry.get("bindings", [])]
        parts.append(f"{entry['name']}: on {', '.join(bound) or 'no interface'}")
        known = rules.get(entry["name"], {}).get("rules", {})
        rows = [
            {**row, "rule": text.tree([known[str(row["sequence"])]]) if str(row["sequence"]) in known else ""}
            for row in entry["rules"]
        ]
        for row in rows:
            row["rule"] = " ".join(row["rule"].split())
        parts.append(text.table(rows, ("sequence", "packets", "bytes", "rule")))
    return Output(lists, "\n".join(parts) or "(none)")


def show_control_plane(agent: AgentClient, words: list[str]) -> Output:
    """Packets for the router itself, accepted and dropped: all of one interface, or all that counted."""
    name = _one(words)
    answer = agent.state_control_plane()
    interfaces = [row for row in answer["interfaces"] if name in (None, row["interface"])]
    if name is not None and not interfaces:
        raise CommandError(f"{name} is no data interface")
    rows = [
        {"interface": row["interface"], "reason": reason, "verdict": verdict, "packets": packets}
        for row in interfaces
        for verdict in ("accepted", "dropped")
        for reason, packets in row[verdict].items()
        if packets or name is not None
    ]
    parts = [text.table(rows, ("interface", "verdict", "reason", "packets"))]
    if name is None and answer["policers"]:
        parts.append(text.table(answer["policers"], ("family", "rate_pps", "passed", "dropped")))
    return Output({**answer, "interfaces": interfaces}, "\n\n".join(parts))


def show_neighbors(agent: AgentClient, words: list[str]) -> Output:
    """ARP and ND entries."""
    _none(words)
    rows = agent.state_neighbors()["neighbors"]
    return Output(rows, text.table(rows, ("interface", "address", "mac", "state")))


def show_hardware(agent: AgentClient, words: list[str]) -> Output:
    """NICs, threads and memory."""
    _none(words)
    answer = dict(agent.state_hardware())
    return Output(answer, text.tree(answer))


def show_health(agent: AgentClient, words: list[str]) -> Output:
    """Whether each part works."""
    _none(words)
    answer = agent.state_health()
    rows = [{"part": name, **part} for name, part in answer["parts"].items()]
    return Output(dict(answer), text.table(rows, ("part", "state", "detail")))


def show_status(agent: AgentClient, words: list[str]) -> Output:
    """Revision, data plane, what awaits confirmation, what is damaged, room on the disk."""
    _none(words)
    answer = agent.status()
    warnings = "".join(f"{line}\n" for line in damage_lines(answer))
    return Output(dict(answer), warnings + text.tree(dict(answer)))


def damage_lines(status: StatusAnswer) -> list[str]:
    """What of the recorded state cannot be read, for whoever begins to work."""
    return [f"WARNING: {text.clean(sentence)}" for sentence in status.damage]


def show_drift(agent: AgentClient, words: list[str]) -> Output:
    """How the router differs from its last commit."""
    _none(words)
    drift = agent.status().drift
    return Output(drift, "\n".join(text.clean(line) for line in drift) or "the router is as it was committed")


def show_revisions(agent: AgentClient, words: list[str]) -> Output:
    """The last revisions: ``revisions [COUNT]``."""
    count = _one(words)
    rows = [dict(row) for row in agent.revisions(limit=number(count, "count") if count else 20)]
    return Output(rows, text.table(rows, ("revision", "time", "author", "comment", "impact", "result")))


def show_revision(agent: AgentClient, words: list[str]) -> Output:
    """One revision: what it changed."""
    revision = dict(agent.revision(number(_need(words, "revision"), "revision")))
    if "document" in revision:
        revision["document"] = mask(revision["document"])
    shown = {key: value for key, value in revision.items() if key not in ("document", "plan", "diff")}
    lines = [_facts(shown)]
    for change in revision.get("diff") or []:
        lines.append(f"{change['op']} {change['path']}: {change['before']} -> {change['after']}")
    return Output(revision, text.clean_lines("\n".join(lines)))


def show_upgrade(agent: AgentClient, words: list[str]) -> Output:
    """Slots, what is written, and what became of the last upgrade."""
    _none(words)
    answer = dict(agent.upgrade())
    return Output(answer, text.tree(answer))


SHOWS: dict[str, Show] = {
    "acl": show_acl,
    "bgp": show_bgp,
    "config": show_config,
    "control-plane": show_control_plane,
    "counters": show_counters,
    "drift": show_drift,
    "hardware": show_hardware,
    "health": show_health,
    "interfaces": show_interfaces,
    "neighbors": show_neighbors,
    "ospf": show_ospf,
    "revision": show_revision,
    "revisions": show_revisions,
    "route": show_route,
    "status": show_status,
    "upgrade": show_upgrade,
}
"""What ``show`` can show."""


def ping(agent: AgentClient, words: list[str]) -> Output:
    """``ping DESTINATION [count N] [size BYTES] [source ADDRESS]``."""
    options = _options(words, "ping", {"count": int, "size": int, "source": str})
    answer = agent.ping(**options)
    return Output(dict(answer), text.clean_lines(str(answer.get("output", ""))))


def traceroute(agent: AgentClient, words: list[str]) -> Output:
    """``traceroute DESTINATION [source ADDRESS]``."""
    answer = agent.traceroute(**_options(words, "traceroute", {"source": str}))
    return Output(dict(answer), text.clean_lines(str(answer.get("output", ""))))


def _options(words: list[str], name: str, known: Mapping[str, type]) -> dict[str, Any]:
    if not words:
        raise CommandError(f"{name} what?")
    options: dict[str, Any] = {"destination": words[0]}
    rest = words[1:]
    while rest:
        option = rest.pop(0)
        if option not in known or not rest:
            raise CommandError(f"{name} DESTINATION {' '.join(f'[{known_one} …]' for known_one in known)}")
        word = rest.pop(0)
        options[option] = number(word, option) if known[option] is int else word
    return options


def number(word: str, what: str) -> int:
    """A whole number. Raises CommandError."""
    if not word.isdecimal() or len(word) > 9:
        raise CommandError(f"{what} is a whole number, not {word!r}")
    return int(word)


def _facts(row: Mapping[str, Any]) -> str:
    return text.table(
        [{"name": key.replace("_", " "), "value": item} for key, item in row.items()], ("name", "value")
    )
