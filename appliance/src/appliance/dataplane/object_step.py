"""A planned change of one object, as the linux and host backends make it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Phase = Literal["withdraw", "detach", "delete", "create", "attach", "announce"]
"""When a step runs, over all backends together."""


@dataclass(frozen=True)
class ObjectStep:
    """Bring the object ``key`` from ``before`` to ``after``; None stands for absent.

    Undoing it is the same change the other way round.
    """

    phase: Phase
    summary: str
    undo_summary: str
    impact: str
    path: str
    key: str
    before: Any
    after: Any

    @property
    def operation(self) -> Literal["create", "update", "delete"]:
        """What happens to the object."""
        if self.before is None:
            return "create"
        return "delete" if self.after is None else "update"
