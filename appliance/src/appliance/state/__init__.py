"""Live state: every part of the router that can be looked at.

A new part is a file of this folder that declares a ``Part``.
"""

from __future__ import annotations

from appliance.found import declared_in
from appliance.state.part import Answer, AnyPart, Everything, Part, Question, Table

__all__ = ["PARTS", "Answer", "AnyPart", "Everything", "Part", "Question", "Table"]


_FOUND: dict[str, AnyPart] = {one.where: one for one in declared_in(__name__, __path__, Part)}
PARTS: tuple[AnyPart, ...] = tuple(_FOUND[where] for where in sorted(_FOUND))
"""Every part, by its address."""
