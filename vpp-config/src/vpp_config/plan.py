"""From two states of a VPP to the steps between them. Pure: no I/O, no clock.

:func:`planner.changes` orders the steps by what the objects declare. VPP's plan also clears leftovers that
are in the way, at the start of phase ``delete``, and gives the steps the caller's paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from planner import Change, Contradiction, changes
from vpp_config.errors import PlanError
from vpp_config.leftover import Leftover
from vpp_config.objects import KINDS, VppObject
from vpp_config.state import VppState
from vpp_config.step import Step


def plan(
    desired: VppState, observed: VppState, *, paths: Mapping[str, str] | None = None
) -> tuple[Step, ...]:
    """The steps that bring ``observed`` to ``desired``, in order; none when they are equal.

    ``paths`` gives the ``path`` of the steps by object key. Raises :class:`PlanError` where ``desired`` lacks
    something that one of its objects needs.
    """
    try:
        ordered = changes(desired, observed, KINDS)
    except Contradiction as error:
        raise PlanError(str(error)) from None
    known = paths or {}
    steps = [_step(change, known.get(change.item.key, "")) for change in ordered]
    detaching = sum(step.phase == "detach" for step in steps)
    return (*steps[:detaching], *_clear(ordered, observed.leftovers), *steps[detaching:])


def _step(change: Change[VppObject], path: str) -> Step:
    return Step(
        change.phase,
        change.operation,
        change.item.key,
        change.summary,
        change.undo_summary,
        change.impact,
        change.before,
        change.after,
        path,
    )


def _clear(ordered: Sequence[Change[VppObject]], leftovers: Sequence[Leftover]) -> Iterator[Step]:
    """Steps for every leftover in the way of something that is made, and for every duplicate."""
    needed = {change.item.occupies() for change in ordered if change.operation == "create"}
    for leftover in leftovers:
        if leftover.reason == "duplicate" or leftover.blocks in needed:
            label = leftover.label()
            yield Step(
                "delete",
                "clear",
                leftover.key,
                f"clear {label}",
                f"leave {label} cleared",
                "none",
                leftover,
                None,
            )
