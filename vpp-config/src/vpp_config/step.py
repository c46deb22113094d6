"""One step of a plan: what it does, what undoes it, and what traffic notices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from planner import Phase
from vpp_config.leftover import Leftover
from vpp_config.objects import VppObject

Operation = Literal["create", "update", "delete", "clear"]


@dataclass(frozen=True)
class Step:
    """Brings one object from ``before`` to ``after``; ``None`` is absence. Undoing it goes the other way.

    ``clear`` removes a leftover, which nothing brings back. ``path`` is the caller's own reference.
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
        """What a user sees of it."""
        return {
            "phase": self.phase,
            "operation": self.operation,
            "key": self.key,
            "summary": self.summary,
            "undo_summary": self.undo_summary,
            "impact": self.impact,
            "path": self.path,
        }
