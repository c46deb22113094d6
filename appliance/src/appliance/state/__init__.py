"""Live state: every part of the router that can be looked at.

A new part is a file of this folder that declares a ``Part``.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path

from appliance.state.part import Answer, AnyPart, Everything, Part, Question, Table

__all__ = ["PARTS", "Answer", "AnyPart", "Everything", "Part", "Question", "Table"]


def _declared() -> tuple[AnyPart, ...]:
    """What the files of this folder declare, in their order; one file may use the part of another."""
    names = sorted(found.name for found in pkgutil.iter_modules([str(Path(__file__).parent)]))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Part)]
    return tuple(sorted({part.where: part for part in found}.values(), key=lambda part: part.where))


PARTS: tuple[AnyPart, ...] = _declared()
"""Every part, by its address."""
