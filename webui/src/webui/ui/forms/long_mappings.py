"""Mappings with too many entries for one form: their entries are edited one by one, like large objects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import QueryDict

from webui.ui.forms.field import Field, Kind

_MOST_ENTRIES = 200
APART = "@apart"
"""Name of the input, below the field's own, by which a form says that it did not carry the entries."""


def apart_if_long(field: Field, value: Any) -> Field:
    """The field, without the mappings that have too many entries in `value` for one form."""
    if field.kind is Kind.GROUP:
        below = value if isinstance(value, dict) else {}
        return replace(
            field, children=tuple(apart_if_long(child, below.get(child.name)) for child in field.children)
        )
    return _apart(field) if field.kind is Kind.ENTRIES and len(value or ()) > _MOST_ENTRIES else field


def apart_as_posted(field: Field, data: QueryDict, name: str = "") -> Field:
    """The field as the posted form showed it, however many entries exist by now."""
    if field.kind is Kind.GROUP:
        return replace(
            field,
            children=tuple(apart_as_posted(child, data, f"{name}/{child.name}") for child in field.children),
        )
    return _apart(field) if field.kind is Kind.ENTRIES and f"{name}/{APART}" in data else field


def _apart(field: Field) -> Field:
    return replace(field, kind=Kind.LINKS)
