"""Answers that pass an interface's lists only because a permit_reflect let the question pass. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from appliance.config.context import family_title
from appliance.config.pointer import join
from appliance.features.acl.compared import Lists, lets_through, names_of, passes_all
from appliance.features.acl.evaluate import DIRECTIONS, FAMILIES, Direction, Placed
from appliance.features.acl.model import AclRule
from appliance.impact.change import Change, is_up
from appliance.impact.result import Finding

OTHER_WAY: Mapping[Direction, Direction] = {"in": "out", "out": "in"}
_WORDS: Mapping[Direction, tuple[str, str]] = {
    "in": ("received on", "out"),
    "out": ("sent on", "in"),
}
"""How the question passes the interface, and the direction of its answers."""
_SHOWN = 5


@dataclass(frozen=True)
class _Closed:
    """The rules that no longer let answers of one family pass."""

    rules: Sequence[Placed]
    some_pass: bool
    """Another rule may permit them."""


class _Answers:
    """Comparisons, made once for all interfaces that share the lists."""

    def __init__(self, change: Change) -> None:
        self._lists = Lists.of(change)
        self._known: dict[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], str], _Closed | None] = {}

    def closed(
        self, was: tuple[str, ...], now: tuple[str, ...], back: tuple[str, ...], family: str
    ) -> _Closed | None:
        """For packets that pass the lists ``now``, ``was`` before, and whose answers meet those of ``back``.

        None if their answers pass as before.
        """
        key = (was, now, back, family)
        if key not in self._known:
            self._known[key] = self._compare(*key)
        return self._known[key]

    def _compare(
        self, was: tuple[str, ...], now: tuple[str, ...], back: tuple[str, ...], family: str
    ) -> _Closed | None:
        left = self._lists.reflecting(now, family, after=True)
        kept = {_meaning(one.rule) for one in left}
        before = self._lists.reflecting(was, family, after=False)
        gone = [one for one in before if _meaning(one.rule) not in kept]
        if not gone:
            return None
        after = self._lists.rules(back, after=True).of(family)
        return None if passes_all(after) else _Closed(gone, bool(left) or lets_through(after))


def answers(change: Change) -> Iterator[Finding]:
    """Rules that no longer let answers pass, if the lists for the answers drop some of them."""
    known = _Answers(change)
    for interface in change.after.interfaces:
        if not (is_up(change.before, interface) and is_up(change.after, interface)):
            continue
        for direction in DIRECTIONS:
            change.in_time()
            was, now = (names_of(config, interface, direction) for config in (change.before, change.after))
            earlier, back = (
                names_of(config, interface, OTHER_WAY[direction]) for config in (change.before, change.after)
            )
            # The analysis of the lists reports those that were not bound before.
            for family in FAMILIES if was and earlier and back else ():
                if (closed := known.closed(was, now, back, family)) is not None:
                    yield _told(change, interface, direction, family, back, closed)


def _told(
    change: Change,
    interface: str,
    direction: Direction,
    family: str,
    back: tuple[str, ...],
    closed: _Closed,
) -> Finding:
    title, (question, way) = family_title(family), _WORDS[direction]
    own = any((":" in one) == (family == "ipv6") for one in change.after.interfaces[interface].addresses)
    depends = [] if own else [f"there are such packets: {interface} has no {title} address"]
    if closed.some_pass:
        depends.append(f"such connections pass {interface}, and no other rule permits their answers")
    return Finding(
        grade="possible" if depends else "certain",
        kind="traffic",
        path=join(["interfaces", interface, f"acl_{direction}"]),
        text=(
            f"Answers to {title} packets {question} {interface} are dropped on their way {way}"
            f"{', where ' + ', '.join(back) + ' does not permit them' if closed.some_pass else ''}: "
            f"{_places(closed.rules)} no longer lets them pass."
        ),
        depends_on="; ".join(depends),
    )


def _meaning(rule: AclRule) -> AclRule:
    return rule.model_copy(update={"description": ""})


def _places(rules: Sequence[Placed]) -> str:
    more = f" or {len(rules) - _SHOWN} more" if len(rules) > _SHOWN else ""
    return f"the permit_reflect of {' or '.join(one.place for one in rules[:_SHOWN])}{more}"
