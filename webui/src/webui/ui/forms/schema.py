"""The JSON schema of an object of the document that a page shows or edits."""

from __future__ import annotations

from typing import Any

from appliance.config.pointer import split
from appliance.config.schema import JsonSchema, child, json_schema, kinds
from appliance.errors import NotFound


class UnknownPath(LookupError):
    """The document has no object at this pointer."""


def is_mapping(schema: JsonSchema) -> bool:
    """Whether the schema is a mapping from names to objects."""
    return schema.get("type") == "object" and "properties" not in schema


def choose(schema: JsonSchema, value: Any, kind: str | None = None) -> JsonSchema:
    """The alternative for the kind in `value` (or `kind`); other schemas unchanged."""
    offered = kinds(schema)
    if not offered:
        return schema
    if kind is None and isinstance(value, dict):
        kind = value.get(schema["discriminator"]["propertyName"])
    if kind not in offered:
        raise UnknownPath(f"no such kind: {kind!r}")
    return offered[kind]


def schema_at(pointer: str, value: Any = None, kind: str | None = None) -> JsonSchema:
    """Schema of the object at `pointer`; the existing `value` or `kind` selects among kinds.

    Raises UnknownPath where the document can have nothing, and for items of a list, which have no page.
    """
    schema = json_schema()
    for token in split(pointer):
        if schema.get("type") == "array":
            raise UnknownPath(pointer)
        try:
            schema = child(schema, token, pointer)
        except NotFound:
            raise UnknownPath(pointer) from None
    return choose(schema, value, kind)
