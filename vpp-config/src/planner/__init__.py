"""From two states to the ordered changes between them. Pure, and without knowledge of any kind of object.

A state is a mapping from key to object; what orders its objects is what they declare
(:class:`planner.declared.Declared`). Every data plane plans through :func:`changes`.
"""

from planner.changes import changes
from planner.declared import PHASES, Declared, Phase
from planner.differences import Contradiction
from planner.order import Change, Operation

__all__ = ["PHASES", "Change", "Contradiction", "Declared", "Operation", "Phase", "changes"]
