"""Many objects of a kind at once as few steps.

staticd and mgmtd compare their whole configuration at each transaction, and every daemon keeps route maps and
prefix lists in a tree that each transaction copies: a thousand objects one by one take minutes, together a
second. A few are a step each, as everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from frr_config.step import Command, Step
from frr_config.syntax import NONE, Kind, ObjectKey

SINGLE_STEPS = 32
"""Up to so many changes of a kind in a phase are a step each."""
OBJECTS_IN_A_STEP = 500
_NAMED = 3


def gathered(keys: Sequence[ObjectKey], steps: Sequence[Step]) -> Iterator[Step]:
    """The steps in order; long runs of a kind that can be many, in steps of up to ``OBJECTS_IN_A_STEP``.

    A step that resets something stays one of its own: its impact is told of nothing else.
    """
    placed = list(zip(keys, steps, strict=True))
    for (kind, _, impact), found in groupby(placed, key=_alike):
        run = list(found)
        if not kind.plural or impact != NONE or len(run) <= SINGLE_STEPS:
            yield from (step for _, step in run)
            continue
        for start in range(0, len(run), OBJECTS_IN_A_STEP):
            yield _together(kind, run[start : start + OBJECTS_IN_A_STEP])


def _alike(item: tuple[ObjectKey, Step]) -> tuple[Kind, str, str]:
    key, step = item
    return key.kind, step.phase, step.impact


def _together(kind: Kind, run: Sequence[tuple[ObjectKey, Step]]) -> Step:
    steps = [step for _, step in run]
    names = list(dict.fromkeys(kind.short(key.name) for key, _ in run))
    return Step(
        phase=steps[0].phase,
        summary=_summary(kind, names, [step.summary for step in steps]),
        undo_summary=_summary(kind, names, [step.undo_summary for step in steps]),
        impact=NONE,
        path=kind.collection,
        do=tuple(_commands([step.do for step in steps])),
        undo=tuple(_commands([step.undo for step in reversed(steps)])),
    )


def _commands(parts: Sequence[tuple[Command, ...]]) -> Iterator[Command]:
    for part in parts:
        yield from part


def _summary(kind: Kind, names: Sequence[str], summaries: Sequence[str]) -> str:
    """``add 480 static routes: 198.18.0.0/24, 198.18.1.0/24, 198.18.2.0/24, ...``."""
    verbs = sorted({summary.split()[0] for summary in summaries})
    more = ", ..." if len(names) > _NAMED else ""
    return f"{' or '.join(verbs)} {len(summaries)} {kind.plural}: {', '.join(names[:_NAMED])}{more}"
