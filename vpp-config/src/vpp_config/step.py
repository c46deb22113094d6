"""One step of a plan: its action, its undo, and its effect on traffic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from planner import Phase
from vpp_config.leftover import Leftover
from vpp_config.objects import VppObject

Operation = Literal["create", "update", "delete", "clear"]


@dataclass(frozen=True)
class Step:
    """Brings one object from ``before`` to ``after``; ``None`` means absent. Undo goes the other way.

    ``clear`` removes a leftover, which nothing can restore. ``path`` is the caller's own reference.
    """

    phase: Phase
    operation: Operation
    key: str
    summary: str
    undo_summary: str
    impact: str
    before: VppObject | Leftover | None
    after: VppObject | None
    path: str = ""

    def to_json(self) -> dict[str, Any]:
        """The form shown to a user."""
        return {
            "phase": self.phase,
            "operation": self.operation,
            "key": self.key,
            "summary": self.summary,
            "undo_summary": self.undo_summary,
            "impact": self.impact,
            "path": self.path,
        }
