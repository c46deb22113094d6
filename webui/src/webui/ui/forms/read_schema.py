"""From a JSON schema to the fields of a form."""

from __future__ import annotations

from typing import Any

from appliance.config.schema import JsonSchema as Schema
from appliance.config.schema import (
    entry_of,
    is_optional,
    key_of,
    keys_refer_to,
    kinds,
    must_refer,
    refers_to,
    refers_to_own_vrf,
    resolved,
)
from webui.ui.forms.field import Field, Kind
from webui.ui.forms.schema import choose, is_mapping

_INLINE_FIELDS = 5
"""A mapping is edited in place if its objects have at most this many plain fields."""

_BLOCKS = {Kind.GROUP, Kind.LINKS}
"""Shown after the plain fields, so that a field after a block does not seem to be part of it."""

_PLAIN = {Kind.TEXT, Kind.INTEGER, Kind.CHOICE, Kind.SWITCH, Kind.LINES, Kind.REFERENCE, Kind.CONSTANT}


def read_field(name: str, schema: Schema, *, required: bool = False) -> Field:
    """The field `name` as its schema describes it."""
    inner = resolved(schema)
    inner = choose(inner, None, next(iter(kinds(inner)), None))
    about: dict[str, Any] = {
        "name": name,
        "title": inner.get("title") or name.replace("_", " ").capitalize(),
        "help": _help_text(schema, inner),
        "unit": inner.get("unit", ""),
        "required": required,
        "optional": is_optional(schema),
        "default": inner.get("default"),
        "examples": tuple(str(example) for example in _examples(inner)),
        "refers_to": refers_to(inner),
        "own_vrf": refers_to_own_vrf(inner),
    }
    if "const" in inner:
        return Field(kind=Kind.CONSTANT, **{**about, "default": inner["const"]})
    if inner.get("writeOnly"):
        return Field(kind=Kind.SECRET, **about)
    if "enum" in inner:
        return Field(kind=Kind.CHOICE, choices=tuple(inner["enum"]), **about)
    match inner.get("type"):
        case "boolean":
            return Field(kind=Kind.SWITCH, **about)
        case "integer":
            return Field(kind=Kind.INTEGER, bounds=_bounds(inner), **about)
        case "array":
            return _read_list(inner, about)
        case "object" if is_mapping(inner):
            return _read_mapping(inner, about)
        case "object":
            return Field(kind=Kind.GROUP, children=read_properties(inner), **about)
    if must_refer(inner):
        return Field(kind=Kind.REFERENCE, **about)
    words, numbers = _words(inner)
    offered = tuple(inner.get("x-offers", ())) or words
    return Field(
        kind=Kind.TEXT, choices=offered, integer_items=numbers, max_length=inner.get("maxLength"), **about
    )


def read_properties(schema: Schema) -> tuple[Field, ...]:
    """The fields of an object, in the model's order but with required ones first, then groups one of which is
    needed (``x-needed``).
    """
    required = set(schema.get("required", ()))
    needed = {name for name, below in schema.get("properties", {}).items() if below.get("x-needed")}
    fields = [
        read_field(name, below, required=name in required)
        for name, below in schema.get("properties", {}).items()
    ]
    return tuple(sorted(fields, key=lambda field: _place(field, needed)))


def _place(field: Field, needed: set[str]) -> tuple[bool, ...]:
    return (not field.required, field.name not in needed, field.kind in _BLOCKS)


def read_key(mapping: Schema, name: str = "") -> Field:
    """The key of a mapping, as a field."""
    schema = key_of(mapping)
    title = mapping.get("x-key") or ("Sequence" if _is_sequence(schema) else _KEY_TITLES.get(name, "Name"))
    sequence = title == "Sequence"
    return Field(
        name="@key",
        kind=Kind.REFERENCE if must_refer(resolved(mapping.get("propertyNames", {}))) else Kind.TEXT,
        title=title,
        help="Lower is looked at first." if sequence else "",
        required=True,
        examples=tuple(str(example) for example in schema.get("examples", ())),
        max_length=schema.get("maxLength"),
        refers_to=keys_refer_to(mapping),
    )


_KEY_TITLES = {"static": "Prefix", "neighbors": "Address", "areas": "Area", "rules": "Sequence"}


def _is_sequence(schema: Schema) -> bool:
    return schema.get("type") == "integer" or "maximum" in schema


def _read_list(schema: Schema, about: dict[str, Any]) -> Field:
    items = resolved(schema.get("items", {}))
    if items.get("type") == "object":
        return Field(kind=Kind.ROWS, children=read_properties(items), **about)
    if "enum" in items:
        return Field(kind=Kind.CHECKS, choices=tuple(items["enum"]), **about)
    if must_refer(items):
        return Field(kind=Kind.REFERENCES, **about)
    about = {**about, "examples": about["examples"] or tuple(str(example) for example in _examples(items))}
    return Field(kind=Kind.LINES, integer_items=items.get("type") == "integer", **about)


def _read_mapping(schema: Schema, about: dict[str, Any]) -> Field:
    values = entry_of(schema) or {}
    key = read_key(schema, about["name"])
    if not kinds(values):
        children = read_properties(values)
        if len(children) <= _INLINE_FIELDS and all(child.kind in _PLAIN for child in children):
            return Field(kind=Kind.ENTRIES, children=children, key=key, **about)
    return Field(kind=Kind.LINKS, key=key, **about)


def _help_text(outer: Schema, inner: Schema) -> str:
    return (
        str(outer.get("description") or inner.get("description") or "").replace("``", "").replace("\n", " ")
    )


def _branches(schema: Schema) -> list[Schema]:
    return [resolved(branch) for branch in schema.get("anyOf", [])] or [schema]


def _examples(schema: Schema) -> list[Any]:
    return schema.get("examples") or [
        example for branch in _branches(schema) for example in branch.get("examples", ())
    ]


def _words(schema: Schema) -> tuple[tuple[Any, ...], bool]:
    """The words that a union offers besides free text, and whether it also accepts numbers."""
    branches = _branches(schema)
    words = tuple(word for branch in branches for word in branch.get("enum", ()))
    return words, any(branch.get("type") == "integer" for branch in branches)


def _bounds(schema: Schema) -> str:
    low = schema.get("minimum", schema.get("ge"))
    high = schema.get("maximum", schema.get("le"))
    if low is None or high is None:
        return ""
    return f"{low} to {high}"
