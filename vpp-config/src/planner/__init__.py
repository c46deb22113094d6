"""From two states to the ordered changes between them. Pure, and independent of the kinds of object.

A state is a mapping from key to object. The objects' own declarations determine their order
(:class:`planner.declared.Declared`). Every data plane plans through :func:`changes`.
"""

from planner.changes import changes
from planner.declared import PHASES, Declared, Phase
from planner.differences import Contradiction
from planner.order import Change, Operation

__all__ = ["PHASES", "Change", "Contradiction", "Declared", "Operation", "Phase", "changes"]
