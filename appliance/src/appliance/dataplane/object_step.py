"""A planned change to one object, as the linux and host backends apply it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Phase = Literal["withdraw", "detach", "delete", "create", "attach", "announce"]
"""The phases of steps, for all backends together."""


@dataclass(frozen=True)
class ObjectStep:
    """Bring the object ``key`` from ``before`` to ``after``; None stands for absent.

    Undoing it is the same change in reverse.
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
        """The kind of change to the object."""
        if self.before is None:
            return "create"
        return "delete" if self.after is None else "update"
