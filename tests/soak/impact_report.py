"""The result of a campaign of foretold and measured changes: a table, from each round as JSON.

``python -m tests.soak.impact_report FILE...`` prints the table of the rounds in the files, which
``MILLRACE_REPORT`` named; of a repeated round the last time counts.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

PAUSE_S = 0.8
"""A machine that keeps packets waiting so long keeps timers waiting, too: nothing is judged by that."""
_CLASSES = ("sessions", "IPv4", "IPv6", "routes")
_OWN_CONNECTION = "not looked at: your own connection"
"""Nobody in the lab comes through an interface of the document."""

Json = dict[str, Any]


def class_of(untold: str) -> str:
    """What kind of thing was lost without a word."""
    return next((one for one in _CLASSES if untold.startswith(one)), "sessions")


def is_judged(one: Json) -> bool:
    """No program died in it, and the machine was fast enough at last."""
    return not one["died"] and not is_slow(one)


def is_wrong(one: Json) -> bool:
    """Something was not as it was foretold."""
    return bool(one["untold"]) or False in one["certain"].values()


def is_slow(one: Json) -> bool:
    """It is wrong, and the machine kept packets waiting."""
    return is_wrong(one) and one.get("pause_s", 0.0) >= PAUSE_S


def table(rounds: Sequence[Json]) -> list[tuple[str, str]]:
    """The rows: what was counted, and the count. Rounds that are not judged are counted apart."""
    judged = [one for one in rounds if is_judged(one)]
    lossy = [one for one in judged if one["sessions_lost"] or one["disturbed"]]
    untold = Counter(class_of(text) for one in judged for text in one["untold"])
    steps = _came(judged, "steps")
    certain, possible = _came(judged, "certain"), _came(judged, "possible")
    alarms, measured = certain.count(False), len(certain) - certain.count(None)
    silent = [one for one in judged if not _told(one) and not one["refused"]]
    share = f" ({100 * alarms / measured:.1f} %)" if measured else ""
    again = [one for one in judged if one["not_repeated"] and not is_wrong(one)]
    rows = [
        ("rounds", f"{len(rounds)}"),
        ("judged", f"{len(judged)}"),
        ("- lost sessions or packets", f"{len(lossy)}"),
        ("- nothing foretold, and nothing lost", f"{sum(not is_wrong(one) for one in silent)}"),
        ('- **false "nothing lost"**', f"**{sum(bool(one['untold']) for one in judged)}**"),
        *((f"  - {name}", f"{untold[name]}") for name in _CLASSES if untold[name]),
        ("`certain` findings, measured", f"{measured}"),
        ("- **that did not happen (false alarms)**", f"**{alarms}{share}**"),
        ("`certain` findings, not measured", f"{certain.count(None)}"),
        ("`possible` findings, measured", f"{len(possible) - possible.count(None)}"),
        ("- that did not happen", f"{possible.count(False)}"),
        ("impacts of steps", f"{len(steps)}"),
        ("- without a measured effect", f"{steps.count(False)}"),
        ("wrong once, right when repeated", f"{len(again)}"),
        ("not judged: a program died", f"{sum(bool(one['died']) for one in rounds)}"),
        ("not judged: the machine was too slow", f"{sum(map(is_slow, rounds))}"),
    ]
    if rounds:
        rows.append(("seconds a round, median", f"{median(one['took_s'] for one in rounds):.1f}"))
    return rows


def _came(rounds: Iterable[Json], kind: str) -> list[bool | None]:
    return [came for one in rounds for came in one[kind].values()]


def _told(one: Json) -> list[str]:
    return [text for text in one["foretold"] if not text.startswith(_OWN_CONNECTION)]


def printed(columns: dict[str, Sequence[tuple[str, str]]]) -> str:
    """The tables side by side, in Markdown; each has its name and its rows."""
    names = list(dict.fromkeys(name for rows in columns.values() for name, _ in rows))
    cells = {title: dict(rows) for title, rows in columns.items()}
    lines = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    lines += [
        f"| {name} | {' | '.join(cells[title].get(name, '0') for title in columns)} |" for name in names
    ]
    return "\n".join(lines)


def line(one: Json) -> str:
    """A round in a few lines."""
    parts = [f"round {one['number']}: {one['name']}: {json.dumps(one['patch'])} ({one['took_s']} s)"]
    parts += [f"    foretold {text}" for text in _told(one)]
    parts.append(f"    lost sessions {one['sessions_lost']}, disturbed {len(one['disturbed'])} flows")
    parts += [f"    UNTOLD {text}" for text in one["untold"]]
    parts += [f"    FALSE ALARM {text}" for text, came in one["certain"].items() if came is False]
    parts += [f"    wrong before: {text}" for text in one["not_repeated"]]
    parts += [f"    DIED {name}" for name in one["died"]]
    if is_wrong(one):
        parts += [f"    first {json.dumps(one['first'])}", f"    {one['evidence']}"]
    return "\n".join(parts)


def read(paths: Iterable[Path]) -> dict[str, list[Json]]:
    """The rounds by data plane."""
    found: dict[str, dict[int, Json]] = {}
    for path in paths:
        for text in path.read_text().splitlines():
            one = json.loads(text)
            found.setdefault(one["plane"], {})[one["number"]] = one
    return {plane: [rounds[number] for number in sorted(rounds)] for plane, rounds in found.items()}


def main() -> None:
    """The command line."""
    rounds = read(map(Path, sys.argv[1:]))
    for listed in rounds.values():
        for one in listed:
            if is_wrong(one) or one["died"] or one["not_repeated"]:
                print(line(one))
    print(printed({f"`{plane}`": table(listed) for plane, listed in rounds.items()}))


if __name__ == "__main__":
    main()
