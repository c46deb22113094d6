"""Which lines of its route maps a daemon evaluates, as ``show route-map`` tells.

A daemon's configuration holds what it was given. What it evaluates is another list, built from that: a clause
whose installation failed is in the first and not in the second.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from frr_config.line import Line
from frr_config.protocols.policy.clauses import WORDS, known
from frr_config.protocols.policy.communities import normal_communities
from frr_config.version import FrrVersion

Ask = Callable[[Sequence[str]], Sequence[str]]
"""Runs operational commands of one daemon; the answers are in their order."""
_OPENER = "route-map "
_CLAUSES = ("match ", "set ")
_NAMES = re.compile(r"\broute-map (\S+)")
_GOES_ON = {"Continue to next entry": "on-match next"}
_WORDS = {clause.words: clause for clause in WORDS}
_LONGEST = max(len(words.split()) for words in _WORDS)


class Counting:
    """Of one daemon. A route map that it uses is asked about once for as long as its lines stay the same, and
    again while some of them do not count. Not thread-safe.
    """

    def __init__(self, daemon: str) -> None:
        self.daemon = daemon
        self._generation = -1
        self._last: tuple[tuple[Line, ...], tuple[Line, ...]] | None = None
        """The daemon's lines, and those of them that count, if all was well."""
        self._right: dict[str, list[Line]] = {}
        """Route maps all of whose lines count."""

    def lines(
        self, held: tuple[Line, ...], version: FrrVersion, generation: int, ask: Ask
    ) -> tuple[Line, ...]:
        """The lines of a daemon's configuration without those that do not count, and with those that count
        although they are not in it. ``generation`` differs after a restart of the daemon.
        """
        if generation != self._generation:
            self._generation, self._last, self._right = generation, None, {}
        if self._last is not None and self._last[0] is held:
            return self._last[1]
        maps = _used(held, _maps(held))
        changed = [name for name, own in maps.items() if self._right.get(name) != own]
        answers = ask([f"show route-map {name} json" for name in changed])
        evaluates = _evaluates(self.daemon, version)
        wrong: set[Line] = set()
        more: list[Line] = []
        self._right = {name: own for name, own in maps.items() if name in self._right}
        for name, answer in zip(changed, answers, strict=True):
            own, counting = dict.fromkeys(maps[name]), _counting(name, answer)
            ignored = {line for line in own if line not in counting and evaluates(line)}
            added = [line for line in counting if line not in own and line.text.startswith(_CLAUSES)]
            if ignored or added:
                self._right.pop(name, None)
                wrong |= ignored
                more += added
            else:
                self._right[name] = maps[name]
        if not wrong and not more:
            self._last = (held, held)
            return held
        self._last = None
        return (*(line for line in held if line not in wrong), *more)


def _evaluates(daemon: str, version: FrrVersion) -> Callable[[Line], bool]:
    """Whether the daemon should evaluate a line of a route map."""
    clauses = known(daemon, version)

    def evaluates(line: Line) -> bool:
        text = line.text
        if not text.startswith(_CLAUSES):
            return not text.startswith("description ")
        words = text.split(" ")
        for length in range(_LONGEST, 1, -1):
            clause = _WORDS.get(" ".join(words[:length]))
            if clause is not None:
                return clause in clauses
        return False

    return evaluates


def _maps(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Lines by the name of the route map they are of."""
    maps: dict[str, list[Line]] = {}
    for line in lines:
        opener = line.context[0] if line.context else line.text
        if opener.startswith(_OPENER) and len(words := opener.split(" ")) == 4:
            maps.setdefault(words[1], []).append(line)
    return maps


def _used(lines: Iterable[Line], maps: Mapping[str, list[Line]]) -> dict[str, list[Line]]:
    """Those of the route maps that other lines of the daemon name, and those that they call.

    What others hold only because all daemons are given all route maps counts for nothing there.
    """
    found: dict[str, list[Line]] = {}
    waiting = [
        match[1]
        for line in lines
        if not line.text.startswith(_OPENER) and (match := _NAMES.search(line.text)) is not None
    ]
    while waiting:
        name = waiting.pop()
        if name in maps and name not in found:
            found[name] = maps[name]
            waiting += [line.text.split()[1] for line in maps[name] if line.text.startswith("call ")]
    return found


def _counting(name: str, answer: str) -> dict[Line, None]:
    """The lines that the daemon evaluates; none where it does not know the route map."""
    found: dict[Line, None] = {}
    for rule in _rules(name, answer):
        opener = f"{_OPENER}{name} {rule.get('type')} {rule.get('sequenceNumber')}"
        found[Line((), opener)] = None
        texts = [f"match {text}" for text in rule.get("matchClauses", ())]
        texts += [f"set {text}" for text in rule.get("setClauses", ())]
        if "callClause" in rule:
            texts.append(f"call {rule['callClause']}")
        action = str(rule.get("action", ""))
        texts.append(_GOES_ON.get(action, action.replace("Goto ", "on-match goto ")))
        for text in texts:
            plain = " ".join(text.split())
            found[Line((opener,), normal_communities(plain) or plain)] = None
    return found


def _rules(name: str, answer: str) -> Sequence[Mapping[str, Any]]:
    """Release 8.4 puts the route map below the daemon's own name, release 10 does not."""
    try:
        told = json.loads(answer)
    except ValueError:
        return ()
    for one in (told, *told.values()) if isinstance(told, dict) else ():
        found = one.get(name) if isinstance(one, dict) else None
        if isinstance(found, dict) and isinstance(found.get("rules"), list):
            rules: Sequence[Mapping[str, Any]] = found["rules"]
            return rules
    return ()
