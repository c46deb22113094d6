"""Many static routes at once as few steps.

staticd, and mgmtd after it, compare their whole configuration at each transaction: a thousand routes one by
one take a minute, together a second. A few are a step each, as everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from frr_config.impact import NONE
from frr_config.objects import Kind
from frr_config.step import Command, Step

SINGLE_STEPS = 32
"""Up to so many changes of static routes in a phase are a step each."""
ROUTES_IN_A_STEP = 500
_NAMED = 3


def gathered(kinds: Sequence[Kind], steps: Sequence[Step]) -> Iterator[Step]:
    """The steps in order; long runs of static routes in steps of up to ``ROUTES_IN_A_STEP``."""
    placed = list(zip(kinds, steps, strict=True))
    for (kind, _), found in groupby(placed, key=lambda item: (item[0], item[1].phase)):
        run = [step for _, step in found]
        if kind != "static" or len(run) <= SINGLE_STEPS:
            yield from run
            continue
        for start in range(0, len(run), ROUTES_IN_A_STEP):
            yield _together(run[start : start + ROUTES_IN_A_STEP])


def _together(steps: Sequence[Step]) -> Step:
    return Step(
        phase=steps[0].phase,
        summary=_summary([step.summary for step in steps]),
        undo_summary=_summary([step.undo_summary for step in steps]),
        impact=NONE,
        path="/routing/static",
        do=tuple(_commands([step.do for step in steps])),
        undo=tuple(_commands([step.undo for step in reversed(steps)])),
    )


def _commands(parts: Sequence[tuple[Command, ...]]) -> Iterator[Command]:
    for part in parts:
        yield from part


def _summary(summaries: Sequence[str]) -> str:
    """``add 480 static routes: 198.18.0.0/24, 198.18.1.0/24, 198.18.2.0/24, ...``."""
    verbs = sorted({summary.split()[0] for summary in summaries})
    prefixes = [summary.split()[3] for summary in summaries]
    more = ", ..." if len(prefixes) > _NAMED else ""
    return f"{' or '.join(verbs)} {len(prefixes)} static routes: {', '.join(prefixes[:_NAMED])}{more}"
