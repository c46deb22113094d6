"""Steps from observed to desired, on the linux data plane. Pure.

:func:`planner.changes` derives the order from what the objects declare.
"""

from __future__ import annotations

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.linux.objects import KINDS, LinuxObject
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.object_step import ObjectStep
from planner import Change, Contradiction, changes

Step = ObjectStep


def plan(desired: LinuxState, observed: LinuxState) -> list[ObjectStep]:
    """Steps in the order they have to run, links in the order of their names.

    Raises DataPlaneError where ``desired`` lacks something that one of its objects needs.
    """
    try:
        ordered = changes(_sorted(desired), _sorted(observed), KINDS)
    except Contradiction as error:
        raise DataPlaneError(str(error)) from None
    return [_step(change) for change in ordered]


def _sorted(state: LinuxState) -> dict[str, LinuxObject]:
    return {key: state[key] for key in sorted(state)}


def _step(change: Change[LinuxObject]) -> Step:
    item = change.item
    return Step(
        change.phase,
        change.summary,
        change.undo_summary,
        change.impact,
        item.path,
        item.key,
        change.before,
        change.after,
    )
