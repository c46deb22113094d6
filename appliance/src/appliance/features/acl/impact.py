"""The effect of newly bound or changed access lists on packets. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from appliance.config.context import family_title
from appliance.config.pointer import join
from appliance.features.acl.compared import Compared, Lists, names_of, verb
from appliance.features.acl.evaluate import DIRECTIONS, FAMILIES, Direction, Rules, Verdict
from appliance.features.acl.reflected import OTHER_WAY, answers
from appliance.impact.analysis import Analysis, packets_needed
from appliance.impact.change import Change, is_up
from appliance.impact.needed import ACK, SYN, TCP, Needed, Packet
from appliance.impact.result import Finding

_NEVER: tuple[str, ...] = ()


def _filtered(change: Change) -> Iterator[Finding]:
    """The effect on packets that pass the router."""
    lists = Lists.of(change)
    for interface in change.after.interfaces:
        if not is_up(change.after, interface):
            continue
        for direction in DIRECTIONS:
            change.in_time()
            names = names_of(change.after, interface, direction)
            earlier = names_of(change.before, interface, direction)
            for family in FAMILIES if names else _NEVER:
                compared = lists.compared(earlier, names, family)
                yield from _told(lists, change, interface, direction, family, compared)


def _told(
    lists: Lists, change: Change, interface: str, direction: Direction, family: str, new: Compared
) -> Iterator[Finding]:
    names = names_of(change.after, interface, direction)
    path, title = join(["interfaces", interface, f"acl_{direction}"]), family_title(family)
    packets = f"{title} packets {'received' if direction == 'in' else 'sent'} on {interface}"
    if new.why_all_dropped:
        passing = ["neighbor discovery"] if family == "ipv6" else []
        if lists.reflecting(names_of(change.after, interface, OTHER_WAY[direction]), family, after=True):
            passing.append("answers that a permit_reflect lets pass")
        but = f", except {' and '.join(passing)}," if passing else ""
        own = [
            one for one in change.after.interfaces[interface].addresses if (":" in one) == (family == "ipv6")
        ]
        yield Finding(
            grade="certain" if own else "possible",
            kind="traffic",
            path=path,
            text=(
                f"All {packets}{but} are dropped: access list{'s' if len(names) > 1 else ''} "
                f"{', '.join(names)} drop{'' if len(names) > 1 else 's'} packets that no rule permits, and "
                f"{new.why_all_dropped}."
            ),
            depends_on="" if own else f"there are such packets: {interface} has no {title} address",
            evidence=f"{interface} has {own[0]}" if own else "",
        )
    if new.denier is not None:
        yield Finding(
            grade="certain",
            kind="traffic",
            path=join(["acls", new.denier.acl, "rules", new.denier.sequence]),
            text=(
                f"On {interface}, {new.denier.place} denies every {title} packet: the {new.behind} {title} "
                f"{verb(new.behind, 'rule after it is', 'rules after it are')} never reached."
            ),
        )
    if new.dropped:
        yield Finding(
            grade="possible",
            kind="traffic",
            path=path,
            text=f"Of the {packets}, {new.dropped} are dropped.",
            depends_on=f"such packets pass {interface}",
        )


def _control(change: Change) -> Iterator[Finding]:
    """Packets that the router itself needs, and that the lists begin or cease to drop."""
    documents = (change.before, change.after)
    if not any(one.acl_in or one.acl_out for config in documents for one in config.interfaces.values()):
        return
    lists = Lists.of(change)
    earlier = {_key(one): one for one in packets_needed(change, after=False)}
    opened: dict[str, Needed] = {}
    refused: set[str] = set()
    for one in packets_needed(change, after=True):
        change.in_time()
        was = earlier.get(_key(one))
        now = _ways(change, lists, one, after=True)
        before = [None] * len(now) if was is None else _ways(change, lists, was, after=False)
        if any(now):
            refused.add(one.what)
        elif any(before):
            opened.setdefault(one.what, one)
        # A packet refused before is not reported.
        if (
            any(new and not old for new, old in zip(now, before, strict=True))
            and one.now().works is not False
        ):
            yield _refused(change, lists, one, now)
    for what, one in opened.items():
        if one.kind == "session" and what not in refused and one.now().works is False:
            yield _opened(one)


def _opened(one: Needed) -> Finding:
    return Finding(
        grade="possible",
        kind="routes",
        path=join(["interfaces", one.interface, f"acl_{one.direction}"]),
        text=(
            f"{one.what[0].upper()}{one.what[1:]} may come up: {one.interface} no longer drops its packets. "
            "Routes then change, at the other end too."
        ),
        depends_on="nothing else keeps it down",
        evidence=one.now().evidence,
    )


def _key(one: Needed) -> tuple[str, str, str]:
    return one.what, one.interface, one.direction


def _ways(change: Change, lists: Lists, one: Needed, after: bool) -> list[Verdict | None]:
    """For each way the verdict that drops it; None if nothing does."""
    config = change.after if after else change.before
    names = names_of(config, one.interface, one.direction)
    if not names:
        return [None] * len(one.ways)
    rules = lists.rules(names, after)
    asked = lists.rules(names_of(config, one.interface, OTHER_WAY[one.direction]), after)
    return [
        None
        if _is_answer(way, asked, OTHER_WAY[one.direction])
        else next((said for packet in way if not (said := rules.verdict(packet, one.direction)).passes), None)
        for way in one.ways
    ]


def _is_answer(way: tuple[Packet, ...], asked: Rules, direction: Direction) -> bool:
    """Whether these packets answer a connection that a permit_reflect permitted in the other direction."""
    first = way[0]
    if first.protocol != TCP or first.tcp_flags != SYN | ACK:
        return False
    question = replace(
        first,
        source=first.destination,
        destination=first.source,
        source_port=first.destination_port,
        destination_port=first.source_port,
        tcp_flags=SYN,
    )
    by = asked.verdict(question, direction).by
    return by is not None and by.reflects


def _refused(change: Change, lists: Lists, one: Needed, ways: list[Verdict | None]) -> Finding:
    depends = [one.depends_on] if one.depends_on else []
    if None in ways:
        depends.append("it was set up from the end whose packets are refused")
    if one.now().works is None:
        depends.append("it works now, which the router does not report")
    names = {*names_of(change.after, one.interface, "in"), *names_of(change.after, one.interface, "out")}
    if any(lists.rules((name,), after=True).reflects for name in names):
        depends.append("no permit_reflect lets these packets back in")
    refusal = next(said for said in ways if said is not None)
    return Finding(
        grade="possible" if depends else "certain",
        kind=one.kind,
        path=join(["interfaces", one.interface, f"acl_{one.direction}"]),
        text=(
            f"{one.what[0].upper()}{one.what[1:]} loses packets it needs: {one.interface} drops them "
            f"{'on their way in' if one.direction == 'in' else 'on their way out'}, {refusal.reason}."
        ),
        depends_on="; ".join(depends),
        evidence=one.now().evidence,
    )


ANALYSES = (
    Analysis("access lists", _filtered),
    Analysis("answers that access lists let pass", answers),
    Analysis("the router's own packets in access lists", _control),
)
