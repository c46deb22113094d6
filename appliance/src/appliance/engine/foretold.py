"""The engine's questions about the result of a commit, for its preview."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from appliance.config.document import RouterConfig
from appliance.config.pointer import split
from appliance.engine.own_path import Caller
from appliance.engine.records import PlannedStep
from appliance.impact.result import Result

TakenDown = Callable[[], frozenset[str]]
"""The interfaces that the steps take down or remove (see ``taken_down``). Waits until the steps are known."""
Foretell = Callable[[RouterConfig, RouterConfig, Caller | None, TakenDown], Result]
"""The effects of going from one document to another, once applied. Begun while the router is still observed.
Raises nothing.
"""
_TAKING_DOWN = ("detach", "delete")


def nobody_looked(
    _before: RouterConfig, _after: RouterConfig, _caller: Caller | None, _taken_down: TakenDown
) -> Result:
    """The default Foretell of an engine."""
    return Result(not_looked_at=("the result of the commit",))


def taken_down(plan: Iterable[PlannedStep]) -> frozenset[str]:
    """The interfaces that a step takes down or removes, whether or not a later one restores them.

    A step that loses no packet, such as unbinding access lists from an interface, does not count.
    """
    paths = (
        split(one.step.path) for one in plan if one.step.phase in _TAKING_DOWN and one.step.impact != "none"
    )
    return frozenset(parts[1] for parts in paths if len(parts) == 2 and parts[0] == "interfaces")
