"""What the engine asks about the result of a commit, for its preview."""

from __future__ import annotations

from collections.abc import Callable

from appliance.config.document import RouterConfig
from appliance.engine.own_path import Caller
from appliance.impact.result import Result

Foretell = Callable[[RouterConfig, RouterConfig, Caller | None], Result]
"""What going from one document to another does, once it is made. Raises nothing."""


def nobody_looked(_before: RouterConfig, _after: RouterConfig, _caller: Caller | None) -> Result:
    """The Foretell of an engine that was given none."""
    return Result(not_looked_at=("the result of the commit",))
