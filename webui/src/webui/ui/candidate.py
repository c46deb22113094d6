"""The document as this user would have it: what runs, what the change set makes of it, and the difference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from appliance.config.diff import Change
from webui.ui.pointers import MISSING, get


@dataclass(frozen=True)
class Candidate:
    """`running` and `document` are canonical plain JSON; secrets are sealed or masked in both."""

    running: dict[str, Any]
    document: dict[str, Any]
    changes: tuple[Change, ...]
    revision: int | None = None
    """Revision that runs."""
    base_revision: int | None = None
    """Revision the change set started from."""

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.changes)

    def mark(self, pointer: str) -> str:
        """``added``, ``changed``, ``removed`` or nothing: what the change set does to the object."""
        if not any(
            path == pointer or path.startswith(pointer + "/") or pointer.startswith(path + "/")
            for path in self._paths
        ):
            return ""
        before, after = get(self.running, pointer), get(self.document, pointer)
        if before is MISSING:
            return "" if after is MISSING else "added"
        if after is MISSING:
            return "removed"
        return "" if before == after else "changed"

    def both(self, mapping: str) -> dict[str, Any]:
        """The mapping's objects as the user would have them, with those removed still there."""
        return {**_mapping(self.running, mapping), **_mapping(self.document, mapping)}


def _mapping(document: dict[str, Any], pointer: str) -> dict[str, Any]:
    found = get(document, pointer, {})
    return found if isinstance(found, dict) else {}
