"""Actions: everything that can be done to the running router without a commit.

A new action is a file of this folder that declares an ``Action``.
"""

from __future__ import annotations

from appliance.actions.action import Action, AnyAction, Done
from appliance.found import declared_in

__all__ = ["ACTIONS", "Action", "AnyAction", "Done"]


_FOUND: dict[str, AnyAction] = {one.name: one for one in declared_in(__name__, __path__, Action)}
ACTIONS: tuple[AnyAction, ...] = tuple(_FOUND[name] for name in sorted(_FOUND))
"""Every action, by its name."""
