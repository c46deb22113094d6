"""Combines the changes of many objects of one kind into few steps.

staticd and mgmtd compare their whole configuration at each transaction, and every daemon keeps route maps and
prefix lists in a tree that each transaction copies: a thousand objects take minutes one by one, and a second
together. The changes that fit into one transaction become one step. A few changes are a step each, like all
others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from frr_config.step import Command, Step
from frr_config.syntax import NONE, Kind, ObjectKey
from frr_config.transaction import MOST_LINES

SINGLE_STEPS = 32
"""Up to this many changes of a kind in a phase are a step each."""
_NAMED = 3


def gathered(keys: Sequence[ObjectKey], steps: Sequence[Step]) -> Iterator[Step]:
    """The steps in order; long runs of a kind that can be many are combined into steps of up to
    ``MOST_LINES`` lines.

    A step that resets something stays a step of its own, because its impact describes nothing else.
    """
    placed = list(zip(keys, steps, strict=True))
    for (kind, _, _, impact), found in groupby(placed, key=_alike):
        run = list(found)
        if not kind.plural or impact != NONE or len(run) <= SINGLE_STEPS:
            yield from (step for _, step in run)
            continue
        yield from (_together(kind, part) for part in _parts(run))


def _alike(item: tuple[ObjectKey, Step]) -> tuple[Kind, str, str, str]:
    key, step = item
    return key.kind, key.vrf, step.phase, step.impact


def _parts(run: Sequence[tuple[ObjectKey, Step]]) -> Iterator[list[tuple[ObjectKey, Step]]]:
    part: list[tuple[ObjectKey, Step]] = []
    lines = 0
    for key, step in run:
        more = max(len(step.do), len(step.undo))
        if part and lines + more > MOST_LINES:
            yield part
            part, lines = [], 0
        part.append((key, step))
        lines += more
    yield part


def _together(kind: Kind, run: Sequence[tuple[ObjectKey, Step]]) -> Step:
    steps = [step for _, step in run]
    vrf = run[0][0].vrf
    names = list(dict.fromkeys(kind.short(key.name) for key, _ in run))
    return Step(
        phase=steps[0].phase,
        summary=_summary(kind, names, [step.summary for step in steps], vrf),
        undo_summary=_summary(kind, names, [step.undo_summary for step in steps], vrf),
        impact=NONE,
        path=run[0][0].collection,
        do=_commands([step.do for step in steps]),
        undo=_commands([step.undo for step in reversed(steps)]),
    )


def _commands(parts: Sequence[tuple[Command, ...]]) -> tuple[Command, ...]:
    """All lines, then the operational commands that make the routes follow them, once, when every line is
    in place.
    """
    commands = [command for part in parts for command in part]
    lines = [command for command in commands if command.mode == "configure"]
    return (*lines, *dict.fromkeys(command for command in commands if command.mode == "exec"))


def _summary(kind: Kind, names: Sequence[str], summaries: Sequence[str], vrf: str) -> str:
    """``add 480 static routes: 198.18.0.0/24, 198.18.1.0/24, 198.18.2.0/24, ...``."""
    verbs = sorted({summary.split()[0] for summary in summaries})
    where = f" in VRF {vrf}" if vrf else ""
    more = ", ..." if len(names) > _NAMED else ""
    return f"{' or '.join(verbs)} {len(summaries)} {kind.plural}{where}: {', '.join(names[:_NAMED])}{more}"
