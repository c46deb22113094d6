"""One row of a table: an object as configured, its live state, and the change set's effect on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from appliance.config.schema import mapping_at
from appliance.config.vrf_view import view_of
from webui.ui.candidate import Candidate
from webui.ui.pointers import join


def field_of(value: Any, path: str) -> Any:
    """The value at a dotted path into mappings and objects; None where there is nothing."""
    for name in path.split("."):
        if value is None:
            return None
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return value


@dataclass(frozen=True)
class Row:
    """`settings` are empty for an object that is only live; `state` is None for one that is only
    configured.
    """

    name: str
    pointer: str
    settings: Mapping[str, Any]
    state: Any
    candidate: Candidate
    configured: bool = True

    @cached_property
    def mark(self) -> str:
        """The change set's effect on the object."""
        return self.candidate.mark(self.pointer) if self.pointer else ""

    @property
    def vrf(self) -> str:
        """The VRF whose routing contains the object; empty for the default one."""
        return view_of(self.pointer)[0]

    def beside(self, mapping: str) -> dict[str, Any]:
        """The objects of a mapping of routing, in this object's VRF."""
        return self.candidate.both(mapping_at(mapping, self.pointer))

    @property
    def enabled(self) -> bool:
        """Whether the object is enabled; true for an object without such a setting."""
        return bool(self.settings.get("enabled", True))

    def said(self, path: str, otherwise: Any = None) -> Any:
        """A setting, by its dotted path."""
        found = field_of(self.settings, path)
        return otherwise if found is None else found

    def live(self, path: str, otherwise: Any = None) -> Any:
        """A live value, by its dotted path."""
        found = field_of(self.state, path)
        return otherwise if found is None else found

    @property
    def needed(self) -> bool:
        """Whether another object requires this one."""
        return self.candidate.needs(self.pointer)

    @property
    def used_by(self) -> tuple[str, ...]:
        """Pointers of the places in the candidate that name this object."""
        return self.candidate.used_by(self.pointer)


def rows_of(
    candidate: Candidate, mapping: str, live: Mapping[str, Any] | None, *, live_rows: bool = True
) -> list[Row]:
    """All rows: those of the candidate in its order, those that it removes, then those that are only live."""
    configured = candidate.both(mapping) if mapping else {}
    live = live or {}
    rows = [
        Row(name, mapping + join(name), settings, live.get(name), candidate)
        for name, settings in configured.items()
    ]
    if live_rows:
        rows += [
            Row(name, mapping + join(name) if mapping else "", {}, state, candidate, configured=False)
            for name, state in live.items()
            if name not in configured
        ]
    return rows
