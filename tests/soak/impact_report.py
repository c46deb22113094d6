"""What a campaign of foretold and measured changes showed: a table, and each round as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from tests.soak.impact_campaign import PAUSE_S, Round

CLASSES = ("sessions", "IPv4", "IPv6", "routes")


def class_of(untold: str) -> str:
    """What kind of thing was lost without a word."""
    return next((one for one in CLASSES if untold.startswith(one)), "sessions")


def table(rounds: Sequence[Round]) -> list[tuple[str, str]]:
    """The rows: what was counted, and the count. Rounds are counted apart in which a program died,
    or the machine was too slow each time.
    """
    slow = [one for one in rounds if one.verdict.is_wrong and one.measured.pause_s >= PAUSE_S]
    judged = [one for one in rounds if not one.measured.died and one not in slow]
    died = sum(bool(one.measured.died) for one in rounds)
    lossy = [one for one in judged if one.measured.sessions or one.measured.disturbed]
    untold = Counter(class_of(text) for one in judged for text in one.verdict.untold)
    certain = [came for one in judged for came in one.verdict.certain.values()]
    possible = [came for one in judged for came in one.verdict.possible.values()]
    steps = [came for one in judged for came in one.verdict.steps.values()]
    alarms, told = certain.count(False), len(certain) - certain.count(None)
    silent = [one for one in judged if not one.foretold and not one.refused]
    share = f" ({100 * alarms / told:.1f} %)" if told else ""
    rows = [
        ("rounds", f"{len(rounds)}"),
        ("of them lost sessions or packets", f"{len(lossy)}"),
        ("of them with nothing foretold", f"{len(silent)}"),
        ('false "nothing lost": rounds', f"{sum(bool(one.verdict.untold) for one in judged)}"),
        *((f"- {name}", f"{untold[name]}") for name in CLASSES),
        ("certain findings, measured", f"{told}"),
        ("certain that did not come (false alarms)", f"{alarms}{share}"),
        ("certain, of what is not measured", f"{certain.count(None)}"),
        ("possible findings, measured", f"{len(possible) - possible.count(None)}"),
        ("possible that did not come", f"{possible.count(False)}"),
        ("what steps disturb, of which nothing was noticed", f"{steps.count(False)} of {len(steps)}"),
        (
            "wrong once, and right when done again",
            f"{sum(bool(one.repeated) and not one.verdict.is_wrong for one in judged)}",
        ),
        ("a program died in it, counted apart", f"{died}"),
        ("not judged: the machine kept packets waiting", f"{len(slow)}"),
    ]
    if rounds:
        rows.append(("seconds a round, median", f"{median(one.took_s for one in rounds):.1f}"))
    return rows


def printed(rows: Sequence[tuple[str, str]]) -> str:
    """The table in Markdown."""
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def line(one: Round) -> str:
    """A round in a few lines."""
    parts = [f"round {one.number}: {one.name}: {one.patch} ({one.took_s:.1f} s)"]
    parts += [f"    foretold {text}" for text in one.foretold]
    parts.append(
        f"    lost sessions {sorted(one.measured.sessions)}, disturbed {len(one.measured.disturbed)} flows"
    )
    parts += [f"    UNTOLD {text}" for text in one.verdict.untold]
    parts += [f"    FALSE ALARM {text}" for text in one.verdict.alarms]
    parts += [f"    wrong once: {text}" for text in one.repeated]
    parts += [f"    DIED {name}" for name in one.measured.died]
    if one.verdict.is_wrong:
        parts += [f"    first {one.first}", f"    {one.evidence}"]
    return "\n".join(parts)
