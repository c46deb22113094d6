"""Actions: everything that can be done to the running router without a commit.

A new action is a file of this folder that declares an ``Action``.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path

from appliance.actions.action import Action, AnyAction, Done

__all__ = ["ACTIONS", "Action", "AnyAction", "Done"]


def _declared() -> tuple[AnyAction, ...]:
    """What the files of this folder declare; one file may use the action of another."""
    names = sorted(found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Action)]
    return tuple(sorted({action.name: action for action in found}.values(), key=lambda action: action.name))


ACTIONS: tuple[AnyAction, ...] = _declared()
"""Every action, by its name."""
