"""What access lists that are bound, or changed, do to packets. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from appliance.config.context import family_title
from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.features.acl.evaluate import Direction, Placed, Rules, Verdict, is_unconditional
from appliance.impact.analysis import Analysis, packets_needed
from appliance.impact.change import Change, is_up
from appliance.impact.needed import Needed
from appliance.impact.result import Finding

_FAMILIES = ("ipv4", "ipv6")
_DIRECTIONS: tuple[Direction, ...] = ("in", "out")
_SHOWN = 5
_NEVER: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Compared:
    """What is new in the rules of one family."""

    why_all_dropped: str = ""
    """Why nothing passes any more; empty while something does, or when nothing did before."""
    denier: Placed | None = None
    """A rule that denies everything, with rules that permit behind it."""
    behind: int = 0
    dropped: str = ""
    """What is dropped of a family that passes in part."""


def _names(config: RouterConfig, interface: str, direction: Direction) -> tuple[str, ...]:
    settings = config.interfaces.get(interface)
    if settings is None:
        return ()
    return tuple(map(str, settings.acl_in if direction == "in" else settings.acl_out))


class _Lists:
    """Rules and comparisons, made once for all interfaces that share the lists."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._rules: dict[tuple[bool, tuple[str, ...]], Rules] = {}
        self._compared: dict[tuple[tuple[str, ...], tuple[str, ...], str], _Compared] = {}

    def rules(self, names: tuple[str, ...], after: bool) -> Rules:
        """Of these lists, in the document after the change or before it."""
        key = (after, names)
        if key not in self._rules:
            self._change.in_time()
            acls = self._change.after.acls if after else self._change.before.acls
            self._rules[key] = Rules(names, acls)
        return self._rules[key]

    def compared(self, earlier: tuple[str, ...], names: tuple[str, ...], family: str) -> _Compared:
        """The family in these lists after the change with what it was in the earlier ones."""
        key = (earlier, names, family)
        if key not in self._compared:
            after = self.rules(names, after=True).of(family)
            before = self.rules(earlier, after=False).of(family) if earlier else None
            self._compared[key] = _compare(before, after, family)
        return self._compared[key]


def _compare(before: Sequence[Placed] | None, after: Sequence[Placed], family: str) -> _Compared:
    """``before`` is None where nothing was filtered."""
    if before is not None and before == after:
        return _Compared()
    if not _lets_through(after):
        if before is not None and not _lets_through(before):
            return _Compared()
        why = "every rule of it that is reached denies" if after else "no rule of it is for"
        return _Compared(f"{why} {family_title(family)}")
    at = _unconditional(after)
    denier, behind = None, 0
    if at is not None and not after[at].permits and any(placed.permits for placed in after[at + 1 :]):
        stood = _unconditional(before) if before is not None else None
        if before is None or stood is None or before[stood] != after[at]:
            denier, behind = after[at], len(after) - at - 1
    narrower = not _passes_all(after) and (before is None or not _only_wider(before, after))
    return _Compared(
        "", denier, behind, _dropped(after[: None if at is None else at + 1]) if narrower else ""
    )


def _unconditional(rules: Sequence[Placed]) -> int | None:
    return next((index for index, placed in enumerate(rules) if is_unconditional(placed.rule)), None)


def _lets_through(rules: Iterable[Placed]) -> bool:
    """Whether a rule that is reached permits, of rules for one family."""
    for placed in rules:
        if placed.permits:
            return True
        if is_unconditional(placed.rule):
            return False
    return False


def _passes_all(rules: Iterable[Placed]) -> bool:
    """Whether every packet of the rules' family passes."""
    for placed in rules:
        if not placed.permits:
            return False
        if is_unconditional(placed.rule):
            return True
    return False


def _only_wider(before: Sequence[Placed], after: Sequence[Placed]) -> bool:
    """Whether rules were only added that permit, and only removed that deny; anything else may drop more."""
    was = [(placed.permits, placed.rule) for placed in before]
    now = [(placed.permits, placed.rule) for placed in after]
    old, new = set(was), set(now)
    return [one for one in was if one[0] or one in new] == [one for one in now if not one[0] or one in old]


def _dropped(reached: Sequence[Placed]) -> str:
    """What these rules, of which something passes, drop."""
    denying: dict[str, list[str]] = {}
    for placed in reached:
        if not placed.permits:
            denying.setdefault(placed.acl, []).append(str(placed.sequence))
    said = [
        f"what {_rules(sequences)} of {acl} {_verb(len(sequences), 'denies', 'deny')}"
        for acl, sequences in denying.items()
    ]
    if not is_unconditional(reached[-1].rule):
        said.append("what no rule permits")
    return " and ".join(said)


def _rules(sequences: list[str]) -> str:
    more = f" and {len(sequences) - _SHOWN} more" if len(sequences) > _SHOWN else ""
    return f"{_verb(len(sequences), 'rule', 'rules')} {', '.join(sequences[:_SHOWN])}{more}"


def _verb(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def _filtered(change: Change) -> Iterator[Finding]:
    """What packets that pass the router meet."""
    lists = _Lists(change)
    for interface in change.after.interfaces:
        if not is_up(change.after, interface):
            continue
        for direction in _DIRECTIONS:
            change.in_time()
            names = _names(change.after, interface, direction)
            earlier = _names(change.before, interface, direction)
            for family in _FAMILIES if names else _NEVER:
                compared = lists.compared(earlier, names, family)
                yield from _told(change, interface, direction, names, family, compared)


def _told(
    change: Change, interface: str, direction: Direction, names: tuple[str, ...], family: str, new: _Compared
) -> Iterator[Finding]:
    path, title = join(["interfaces", interface, f"acl_{direction}"]), family_title(family)
    packets = f"{title} packets {'received' if direction == 'in' else 'sent'} on {interface}"
    if new.why_all_dropped:
        but = ", except neighbor discovery," if family == "ipv6" else ""
        own = [
            one for one in change.after.interfaces[interface].addresses if (":" in one) == (family == "ipv6")
        ]
        yield Finding(
            grade="certain" if own else "possible",
            kind="traffic",
            path=path,
            text=(
                f"All {packets}{but} are dropped: access list{'s' if len(names) > 1 else ''} "
                f"{', '.join(names)} drop{'' if len(names) > 1 else 's'} what no rule permits, and "
                f"{new.why_all_dropped}."
            ),
            depends_on="" if own else f"such packets come: {interface} has no {title} address",
            evidence=f"{interface} has {own[0]}" if own else "",
        )
    if new.denier is not None:
        yield Finding(
            grade="certain",
            kind="traffic",
            path=join(["acls", new.denier.acl, "rules", new.denier.sequence]),
            text=(
                f"On {interface}, {new.denier.place} denies every {title} packet: the {new.behind} {title} "
                f"{_verb(new.behind, 'rule after it is', 'rules after it are')} never reached."
            ),
        )
    if new.dropped:
        yield Finding(
            grade="possible",
            kind="traffic",
            path=path,
            text=f"Of the {packets}, {new.dropped} is dropped.",
            depends_on=f"such packets pass {interface}",
        )


def _control(change: Change) -> Iterator[Finding]:
    """What the router itself lives by, and the lists refuse from now on, or no longer."""
    documents = (change.before, change.after)
    if not any(one.acl_in or one.acl_out for config in documents for one in config.interfaces.values()):
        return
    lists = _Lists(change)
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
        # What was refused before is no news.
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
            "Routes change then, also the other end's."
        ),
        depends_on="nothing else keeps it down",
        evidence=one.now().evidence,
    )


def _key(one: Needed) -> tuple[str, str, str]:
    return one.what, one.interface, one.direction


def _ways(change: Change, lists: _Lists, one: Needed, after: bool) -> list[Verdict | None]:
    """For each way the verdict that refuses it; None where it is open."""
    names = _names(change.after if after else change.before, one.interface, one.direction)
    if not names:
        return [None] * len(one.ways)
    rules = lists.rules(names, after)
    return [
        next((said for packet in way if not (said := rules.verdict(packet, one.direction)).passes), None)
        for way in one.ways
    ]


def _refused(change: Change, lists: _Lists, one: Needed, ways: list[Verdict | None]) -> Finding:
    depends = [one.depends_on] if one.depends_on else []
    if None in ways:
        depends.append("it was set up from the end whose packets are refused")
    if one.now().works is None:
        depends.append("it works now, which the router does not report")
    names = {*_names(change.after, one.interface, "in"), *_names(change.after, one.interface, "out")}
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
    Analysis("the router's own packets in access lists", _control),
)
