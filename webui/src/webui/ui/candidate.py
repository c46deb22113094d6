"""The document as this user would have it: what runs, what the change set makes of it, and the difference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from appliance.config.diff import Change
from appliance.config.references import References
from webui.ui.pointers import MISSING, get, parent


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
    def _paths(self) -> frozenset[str]:
        return frozenset(change.path for change in self.changes)

    @cached_property
    def _above(self) -> frozenset[str]:
        """Every place that a change is below."""
        found: set[str] = set()
        for path in self._paths:
            while path and (path := parent(path)) not in found:
                found.add(path)
        return frozenset(found)

    @cached_property
    def _references(self) -> References:
        return References(self.document)

    def _touched(self, pointer: str) -> bool:
        if pointer in self._paths or pointer in self._above:
            return True
        while pointer:
            pointer = parent(pointer)
            if pointer in self._paths:
                return True
        return False

    def mark(self, pointer: str) -> str:
        """``added``, ``changed``, ``removed`` or nothing: what the change set does to the object.

        Takes time by the pointer's depth, not by how many changes there are.
        """
        if not self._touched(pointer):
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

    def used_by(self, pointer: str) -> tuple[str, ...]:
        """Places outside the object that name it or one below it. The first question walks the document."""
        return tuple(use.pointer for use in self._references.used_by(pointer))


def _mapping(document: dict[str, Any], pointer: str) -> dict[str, Any]:
    found = get(document, pointer, {})
    return found if isinstance(found, dict) else {}
