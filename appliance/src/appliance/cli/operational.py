"""Operational commands: ``show``, ``ping`` and ``traceroute``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from appliance.cli import text
from appliance.cli.alarms import show_alarms, show_events
from appliance.cli.bench import show_benches
from appliance.cli.bgp_search import show_bgp_routes
from appliance.cli.capture import show_captures
from appliance.cli.commits import show_commits
from appliance.cli.errors import CommandError
from appliance.cli.log import show_log
from appliance.cli.neighbor_routes import WAYS, show_neighbor_routes
from appliance.cli.ospf import show_ospf
from appliance.cli.output import Output, number
from appliance.cli.questions import asked, fields, vrf_in
from appliance.cli.system import show_system
from appliance.cli.trace import show_traces
from appliance.cli.watch import show_watch
from appliance.cli.words import place, value_at
from appliance.client import AgentClient, StatusAnswer
from appliance.config.secrets_in import mask
from appliance.state import PARTS, Answer, AnyPart, Part, Question
from appliance.state.acls import ACLS
from appliance.state.bgp import BGP, BGP_NEIGHBOR, BgpNeighborDetail
from appliance.state.control_plane import CONTROL_PLANE
from appliance.state.counters import COUNTERS
from appliance.state.interfaces import INTERFACES
from appliance.state.routes import ROUTES, RouteState

A = TypeVar("A", bound=Answer)
Q = TypeVar("Q", bound=Question)


Show = Callable[[AgentClient, list[str]], Output]


def _none(words: list[str]) -> None:
    if words:
        raise CommandError(f"{words[0]!r} is not expected here")


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
    pointer = place(tuple(words), document).pointer
    part = value_at(document, pointer)
    if part is None:
        raise CommandError(f"{' '.join(words)} is not set")
    shown = mask(part, pointer)
    return Output(shown, text.tree(shown), tuple(words))


def show_interfaces(agent: AgentClient, words: list[str]) -> Output:
    """The state of all interfaces, or of one in detail."""
    name = _one(words)
    answer = agent.state(INTERFACES)
    if name is None:
        return state_output(INTERFACES, answer)
    known = answer.by_name.get(name)
    if known is None:
        raise CommandError(f"there is no interface {name}")
    row = known.model_dump(mode="json")
    found = next((one for one in agent.state(COUNTERS).counters if one.interface == name), None)
    counters = None if found is None else found.model_dump(mode="json", exclude={"interface"})
    return Output({**row, "counters": counters}, _facts({**row, **(counters or {})}))


_ROUTE_SWITCHES: dict[str, dict[str, Any]] = {
    "ipv4": {"family": "ipv4"},
    "ipv6": {"family": "ipv6"},
    "longer": {"within": True},
}
_ROUTE_VALUED = {word: word for word in ("vrf", "protocol", "limit")}


def show_route(agent: AgentClient, words: list[str]) -> Output:
    """RIB, kernel and FIB side by side.

    ``route [vrf NAME] [ADDRESS|PREFIX [longer]] [ipv4|ipv6] [protocol NAME] [limit N]``, or what a neighbor
    exchanges: ``route receive-protocol|advertising-protocol bgp NEIGHBOR ...``
    """
    if words[:1] and words[0] in WAYS:
        return show_neighbor_routes(agent, words)
    question = asked(ROUTES, fields(words, _ROUTE_SWITCHES, _ROUTE_VALUED, bare="prefix"))
    answer = agent.state(ROUTES, question)
    rows = [_route_row(row) for row in answer.routes]
    shown = text.table(rows, ("prefix", "protocol", "distance", "metric", "next_hops", "kernel", "fib"))
    if answer.total > len(rows):
        shown += f"\n{len(rows)} of {answer.total} routes; `limit N` shows more"
    told = [*(text.clean(row.disagreement) for row in answer.routes if row.disagreement), answer.note]
    if answer.age_s >= 1:
        told.append(f"read {answer.age_s:.0f} s ago")
    return Output(answer.model_dump(mode="json"), "\n".join([shown, *filter(None, told)]))


def _route_row(row: RouteState) -> dict[str, Any]:
    return {
        **row.model_dump(include={"prefix", "protocol", "distance", "metric"}),
        "next_hops": [" ".join(filter(None, (hop.address, hop.interface))) or "-" for hop in row.rib or ()],
        "kernel": "not reported" if "kernel" in row.untold else row.kernel is not None,
        "fib": "not reported" if "fib" in row.untold else row.fib is not None,
    }


def _clock(milliseconds: float | None) -> str | None:
    """``00:12:33``; after a day ``3d04h``."""
    if milliseconds is None:
        return None
    minutes, seconds = divmod(int(milliseconds // 1000), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}" if hours < 24 else f"{hours // 24}d{hours % 24:02}h"


def _exchanged(family: str, counts: Mapping[str, Any]) -> str:
    """Received and sent prefixes of a family, where they are known."""
    known = [
        f"{counts[field]:,} {title}"
        for field, title in (("prefixes_received", "received"), ("prefixes_sent", "sent"))
        if counts.get(field) is not None
    ]
    return " ".join([family.replace("_", " "), *known])


def show_bgp(agent: AgentClient, words: list[str]) -> Output:
    """BGP neighbors, or one: ``bgp [vrf NAME] [neighbors ADDRESS]``; or a search: ``bgp routes ...``."""
    if words[:1] == ["routes"]:
        return show_bgp_routes(agent, words[1:])
    vrf, words = vrf_in(words)
    if words[:1] == ["neighbors"] and len(words) > 1:
        neighbor = _neighbor(agent, _need(words[1:], "neighbor"), vrf).model_dump(mode="json")
        return Output(neighbor, _facts({key: item for key, item in neighbor.items() if key != "detail"}))
    if words not in ([], ["neighbors"], ["summary"]):
        raise CommandError("show bgp [vrf NAME] [neighbors ADDRESS], or show bgp routes ...")
    answer = agent.state(BGP, asked(BGP, vrf)).model_dump(mode="json")
    rows = [
        {
            "neighbor": address,
            **row,
            "up/down": _clock(row["down_ms"] if row["down_reason"] else row["uptime_ms"]),
            "prefixes": [_exchanged(family, counts) for family, counts in row["families"].items()],
        }
        for address, row in answer["neighbors"].items()
    ]
    columns = (
        "neighbor",
        "remote_asn",
        "state",
        "up/down",
        "prefixes",
        "messages_received",
        "messages_sent",
        "description",
        "down_reason",
    )
    return Output(answer, text.table(rows, columns))


def _neighbor(agent: AgentClient, address: str, vrf: dict[str, str]) -> BgpNeighborDetail:
    asked(BGP, vrf)
    try:
        return agent.state(BGP_NEIGHBOR, BGP_NEIGHBOR.asked({"address": address, **vrf}))
    except ValidationError:
        raise CommandError(f"a neighbor is named by its address, not {address!r}") from None


def show_acl(agent: AgentClient, words: list[str]) -> Output:
    """Access lists with the counters of their rules."""
    name = _one(words)
    lists = [entry for entry in agent.state(ACLS).acls if name in (None, entry.name)]
    if name is not None and not lists:
        raise CommandError(f"there is no access list {name}")
    rules = agent.config().document.get("acls", {})
    parts = []
    for entry in lists:
        bound = [f"{binding.interface} {binding.direction}" for binding in entry.bindings]
        since = f"; since {entry.cleared_at}, cleared by {entry.cleared_by}" if entry.cleared_at else ""
        parts.append(f"{entry.name}: on {', '.join(bound) or 'no interface'}{text.clean(since)}")
        known = rules.get(entry.name, {}).get("rules", {})
        rows = [
            {**dict(row), "rule": text.tree([known[str(row.sequence)]]) if str(row.sequence) in known else ""}
            for row in entry.rules
        ]
        for row in rows:
            row["rule"] = " ".join(row["rule"].split())
        parts.append(text.table(rows, ("sequence", "packets", "bytes", "rule")))
    return Output([entry.model_dump(mode="json") for entry in lists], "\n".join(parts) or "(none)")


def show_control_plane(agent: AgentClient, words: list[str]) -> Output:
    """Packets to the router itself, accepted and dropped: all counts of one interface, or all above zero."""
    name = _one(words)
    answer = agent.state(CONTROL_PLANE)
    interfaces = tuple(row for row in answer.interfaces if name in (None, row.interface))
    if name is not None and not interfaces:
        raise CommandError(f"{name} is not a data interface")
    rows = [
        {"interface": row.interface, "reason": reason, "verdict": verdict, "packets": packets}
        for row in interfaces
        for verdict, counts in (("accepted", row.accepted), ("dropped", row.dropped))
        for reason, packets in counts.items()
        if packets or name is not None
    ]
    parts = [text.table(rows, ("interface", "verdict", "reason", "packets"))]
    if name is None and answer.policers:
        policers = [dict(row) for row in answer.policers]
        parts.append(text.table(policers, ("family", "rate_pps", "passed", "dropped")))
    shown = answer.model_copy(update={"interfaces": interfaces})
    return Output(shown.model_dump(mode="json"), "\n\n".join(parts))


def state_output(part: Part[Q, A], answer: A) -> Output:
    """An answer, shown as its part declares."""
    data = answer.model_dump(mode="json")
    only = next(iter(data.values())) if len(data) == 1 else None
    if part.table is None:
        return Output(data, text.tree(_told(data)))
    if why := part.table.why_not(answer):
        shown = "\n".join(text.clean(one) for one in (f"not known: {why}", _note(part, answer)) if one)
        return Output(data, shown)
    note = _note(part, answer)
    shown = text.table(part.table.cells(answer), part.table.columns) + (
        f"\n{text.clean_lines(note)}\n" if note else ""
    )
    return Output(only if isinstance(only, list) else data, shown)


def _note(part: Part[Q, A], answer: A) -> str:
    return part.table.note(answer) if part.table is not None and part.table.note is not None else ""


def _told(data: dict[str, Any]) -> dict[str, Any]:
    """An answer without the fields that were not read, whose reasons are shown instead."""
    untold: dict[str, str] = data.get("untold", {})
    told = {name: value for name, value in data.items() if name not in untold and name != "untold"}
    return {**told, **{name: f"not known: {why}" for name, why in untold.items()}}


def show_part(part: AnyPart) -> Show:
    """The ``show`` command of a part that declares how it is shown. The words are fields of its question,
    each followed by its value: ``show captures limit 20``.
    """
    fields = part.question.model_fields

    def show(agent: AgentClient, words: list[str]) -> Output:
        unknown = next((word for word in words[::2] if word not in fields), None)
        if unknown is not None:
            raise CommandError(f"{unknown!r} is not expected here")
        if len(words) % 2:
            raise CommandError(f"{words[-1]} needs a value")
        given = dict(zip(words[::2], words[1::2], strict=True))
        return state_output(part, agent.state(part, asked(part, given)))

    show.__doc__ = part.summary
    return show


def show_status(agent: AgentClient, words: list[str]) -> Output:
    """Revision, data plane, pending confirmation, damage, free disk space."""
    _none(words)
    answer = agent.status()
    warnings = "".join(f"{line}\n" for line in damage_lines(answer))
    return Output(dict(answer), warnings + text.tree(dict(answer)))


def damage_lines(status: StatusAnswer) -> list[str]:
    """Warnings about recorded state that cannot be read, shown at the start of a session."""
    return [f"WARNING: {text.clean(sentence)}" for sentence in status.damage]


def show_drift(agent: AgentClient, words: list[str]) -> Output:
    """How the router differs from its last commit."""
    _none(words)
    drift = agent.status().drift
    shown = "\n".join(text.clean(line) for line in drift)
    return Output(drift, shown or "no drift: the router matches its last commit")


def show_revisions(agent: AgentClient, words: list[str]) -> Output:
    """The last revisions: ``revisions [COUNT]``."""
    count = _one(words)
    rows = [dict(row) for row in agent.revisions(limit=number(count, "count") if count else 20)]
    return Output(rows, text.table(rows, ("revision", "time", "author", "comment", "impact", "result")))


def show_revision(agent: AgentClient, words: list[str]) -> Output:
    """One revision, and what it changed."""
    revision = dict(agent.revision(number(_need(words, "revision"), "revision")))
    if "document" in revision:
        revision["document"] = mask(revision["document"])
    shown = {key: value for key, value in revision.items() if key not in ("document", "plan", "diff")}
    lines = [_facts(shown)]
    for change in revision.get("diff") or []:
        lines.append(f"{change['op']} {change['path']}: {change['before']} -> {change['after']}")
    return Output(revision, text.clean_lines("\n".join(lines)))


def show_upgrade(agent: AgentClient, words: list[str]) -> Output:
    """The slots, the upgrade in progress, and the result of the last upgrade."""
    _none(words)
    answer = dict(agent.upgrade())
    return Output(answer, text.tree(answer))


SHOWS: dict[str, Show] = {
    **{part.command or part.name: show_part(part) for part in PARTS if not part.in_path},
    "acl": show_acl,
    "alarms": show_alarms,
    "benches": show_benches,
    "bgp": show_bgp,
    "captures": show_captures,
    "commits": show_commits,
    "config": show_config,
    "control-plane": show_control_plane,
    "drift": show_drift,
    "events": show_events,
    "interfaces": show_interfaces,
    "log": show_log,
    "ospf": show_ospf,
    "revision": show_revision,
    "revisions": show_revisions,
    "route": show_route,
    "status": show_status,
    "system": show_system,
    "traces": show_traces,
    "upgrade": show_upgrade,
    "watch": show_watch,
}
"""The ``show`` commands by name."""
SAME_AS = {
    "configuration": "config",
    "neighbours": "neighbors",
    "routes": "route",
    "running-config": "config",
}
"""Other names for some of them."""


def ping(agent: AgentClient, words: list[str]) -> Output:
    """``ping DESTINATION [vrf NAME] [count N] [size BYTES] [source ADDRESS]``."""
    options = _options(words, "ping", {"vrf": str, "count": int, "size": int, "source": str})
    answer = agent.ping(**options)
    return Output(dict(answer), text.clean_lines(str(answer.get("output", ""))))


def traceroute(agent: AgentClient, words: list[str]) -> Output:
    """``traceroute DESTINATION [vrf NAME] [source ADDRESS]``."""
    answer = agent.traceroute(**_options(words, "traceroute", {"vrf": str, "source": str}))
    return Output(dict(answer), text.clean_lines(str(answer.get("output", ""))))


def _options(words: list[str], name: str, known: Mapping[str, type]) -> dict[str, Any]:
    if not words:
        raise CommandError(f"{name} what?")
    options: dict[str, Any] = {"destination": words[0]}
    rest = words[1:]
    while rest:
        option = rest.pop(0)
        if option in options:
            raise CommandError(f"{option} is given twice")
        if option not in known or not rest:
            raise CommandError(f"{name} DESTINATION {' '.join(f'[{known_one} …]' for known_one in known)}")
        word = rest.pop(0)
        options[option] = number(word, option) if known[option] is int else word
    return options


def _facts(row: Mapping[str, Any]) -> str:
    return text.table(
        [{"name": key.replace("_", " "), "value": item} for key, item in row.items()], ("name", "value")
    )
