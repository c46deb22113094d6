"""The user's input, as JSON for the document. It is not validated here: the model does that."""

from __future__ import annotations

import json
import re
from typing import Any

from django.http import QueryDict

from webui.ui.forms.bound import Bound, show_children
from webui.ui.forms.field import Field, Kind
from webui.ui.pointers import join

_NUMBER = re.compile(r"-?\d{1,20}")


def read(field: Field, data: QueryDict, name: str, pointer: str, base: Any) -> Bound:
    """The field as posted. `base` is the document's present value: secrets left empty, and parts edited
    on pages of their own, keep it.
    """
    bound = Bound(field=field, name=name, pointer=pointer)
    match field.kind:
        case Kind.GROUP:
            _read_group(bound, data, base)
        case Kind.ROWS:
            _read_rows(bound, data, base)
        case Kind.ENTRIES:
            _read_entries(bound, data, base)
        case Kind.LINKS:
            bound.raw = base if base is not None else {}
        case Kind.CONSTANT:
            bound.raw = field.default
        case Kind.SWITCH:
            bound.raw = name in data
        case Kind.CHECKS:
            ticked = [choice for choice in field.choices if str(choice) in data.getlist(name)]
            kept = [choice for choice in base or () if choice in ticked]
            bound.raw = kept + [choice for choice in ticked if choice not in kept]
        case Kind.REFERENCES:
            bound.raw = [word for word in data.getlist(name) if word]
        case Kind.LINES:
            bound.text = data.get(name, "")
            words = re.split(r"[\s,]+", bound.text.strip())
            bound.raw = [_number(word) if field.integer_items else word for word in words if word]
        case Kind.SECRET:
            typed = data.get(name, "")
            bound.stored = bool(base)
            bound.raw = typed or (None if f"{name}/@clear" in data else base)
        case _:
            bound.text = data.get(name, "")
            bound.raw = _read_word(field, bound.text)
    return bound


def read_children(
    fields: tuple[Field, ...], data: QueryDict, name: str, pointer: str, base: Any
) -> list[Bound]:
    """The fields of an object as posted."""
    given = base if isinstance(base, dict) else {}
    return [
        read(child, data, f"{name}/{child.name}", pointer + join(child.name), given.get(child.name))
        for child in fields
    ]


def as_object(children: list[Bound]) -> dict[str, Any]:
    """The object that these fields make. Unset fields and defaults are left out, so that the document
    reads as the user thinks of it and a diff shows only what was set.
    """
    return {
        child.field.name: child.raw
        for child in children
        if child.field.required or child.field.kind is Kind.CONSTANT or not _as_default(child)
    }


def _as_default(child: Bound) -> bool:
    default = child.field.default
    if child.raw == default:
        return type(child.raw) is type(default)
    return child.raw is None or (default is None and not child.field.optional and child.raw in ({}, []))


def _read_word(field: Field, text: str) -> Any:
    stripped = text.strip()
    if not stripped:
        return (
            None
            if field.optional or field.default not in ("", None)
            else ("" if field.default == "" else None)
        )
    if field.kind is Kind.INTEGER or field.integer_items:
        return _number(stripped)
    if field.kind is Kind.CHOICE:
        return next((choice for choice in field.choices if str(choice) == stripped), stripped)
    return stripped


def _number(word: str) -> Any:
    return int(word) if _NUMBER.fullmatch(word) else word


def _read_group(bound: Bound, data: QueryDict, base: Any) -> None:
    field = bound.field
    bound.present = not field.optional or f"{bound.name}/@present" in data
    picked = _picked(data.get(f"{bound.name}/@pick", ""), field)
    if picked:
        bound.children = show_children(field.children, picked, bound.name, bound.pointer)
    else:
        bound.children = read_children(field.children, data, bound.name, bound.pointer, base)
    bound.raw = as_object(bound.children) if bound.present else None


def _picked(text: str, field: Field) -> dict[str, str]:
    """A pick instead of typed input: texts for fields of the group; empty where nothing was picked."""
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    known = {child.name for child in field.children}
    good = isinstance(found, dict) and all(
        name in known and isinstance(value, str) for name, value in found.items()
    )
    return found if good else {}


def _row_indices(data: QueryDict, name: str) -> list[str]:
    """Indices of the rows in the order of the page."""
    return [index for index in data.getlist(f"{name}/@rows") if index.isdecimal()]


def _read_rows(bound: Bound, data: QueryDict, base: Any) -> None:
    given = base if isinstance(base, list) else []
    for position, index in enumerate(_row_indices(data, bound.name)):
        name, pointer = f"{bound.name}/{index}", f"{bound.pointer}/{position}"
        before = given[int(index)] if int(index) < len(given) else None
        children = read_children(bound.field.children, data, name, pointer, before)
        row = Bound(field=bound.field, name=name, pointer=pointer, children=children, raw=as_object(children))
        bound.children.append(row)
    bound.raw = [row.raw for row in bound.children]


def _read_entries(bound: Bound, data: QueryDict, base: Any) -> None:
    given = base if isinstance(base, dict) else {}
    bound.raw = {}
    for index in _row_indices(data, bound.name):
        name = f"{bound.name}/{index}"
        key = data.get(f"{name}/@key", "").strip()
        pointer = bound.pointer + join(key)
        children = read_children(bound.field.children, data, name, pointer, given.get(key))
        row = Bound(
            field=bound.field,
            name=name,
            pointer=pointer,
            key_text=key,
            children=children,
            raw=as_object(children),
        )
        bound.children.append(row)
        title = bound.field.key.title.lower() if bound.field.key else "name"
        if not key:
            row.errors.append(f"needs a {title}")
        elif key in bound.raw:
            row.errors.append(f"{title} {key} is used twice")
        else:
            bound.raw[key] = row.raw
