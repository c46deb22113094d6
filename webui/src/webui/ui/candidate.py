"""The document from this user's point of view: the running one, the candidate, and the difference."""

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
    """The running revision."""
    base_revision: int | None = None
    """Revision the change set started from."""
    unread: str = ""
    """Why neither document could be read: both are then empty, which means nothing."""

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(change.path for change in self.changes)

    @cached_property
    def _above(self) -> frozenset[str]:
        """All places above a change."""
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
        """The change set's effect on the object: ``added``, ``changed``, ``removed`` or nothing.

        The time depends on the pointer's depth, not on the number of changes.
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
        """The mapping's objects in the candidate, and those that it removes."""
        return {**_mapping(self.running, mapping), **_mapping(self.document, mapping)}

    def used_by(self, pointer: str) -> tuple[str, ...]:
        """Places outside the object that name it or one below it. The first call walks the document."""
        return tuple(use.pointer for use in self._references.used_by(pointer))

    def needs(self, pointer: str) -> bool:
        """Whether something outside the object requires it."""
        return any(use.must_exist for use in self._references.used_by(pointer))


def _mapping(document: dict[str, Any], pointer: str) -> dict[str, Any]:
    found = get(document, pointer, {})
    return found if isinstance(found, dict) else {}
