"""Finding the JSON schema of an object of the document by its JSON pointer."""

from __future__ import annotations

from typing import Any

from appliance.config.pointer import split
from appliance.config.schema import json_schema

Schema = dict[str, Any]


class UnknownPath(LookupError):
    """The document has no object at this pointer."""


def resolve(schema: Schema) -> Schema:
    """The schema with its ``$ref`` followed; what stands beside the reference wins."""
    reference = schema.get("$ref")
    if reference is None:
        return schema
    target = json_schema()["$defs"][reference.rpartition("/")[2]]
    return {**resolve(target), **{key: value for key, value in schema.items() if key != "$ref"}}


def without_null(schema: Schema) -> tuple[Schema, bool]:
    """The schema without its null branch, and whether it had one."""
    branches = schema.get("anyOf")
    if branches is None or not any(branch.get("type") == "null" for branch in branches):
        return resolve(schema), False
    outer = {key: value for key, value in schema.items() if key != "anyOf"}
    rest = [branch for branch in branches if branch.get("type") != "null"]
    if len(rest) == 1:
        return {**resolve(rest[0]), **outer}, True
    return {**outer, "anyOf": rest}, True


def is_mapping(schema: Schema) -> bool:
    """Whether the schema is a mapping from names to objects."""
    return schema.get("type") == "object" and "properties" not in schema


def key_schema(mapping: Schema) -> Schema:
    """Schema of a mapping's keys; a pattern moves to ``pattern``."""
    names = resolve(mapping.get("propertyNames", {}))
    patterns = mapping.get("patternProperties")
    if patterns:
        names = {**names, "pattern": next(iter(patterns))}
    return {"type": "string", **names}


def value_schema(mapping: Schema) -> Schema:
    """Schema of a mapping's values, before a choice among kinds is made."""
    patterns = mapping.get("patternProperties")
    if patterns:
        return resolve(next(iter(patterns.values())))
    return resolve(mapping["additionalProperties"])


def kinds(schema: Schema) -> dict[str, Schema]:
    """The kinds a discriminated union offers, by discriminator value; empty for any other schema."""
    discriminator = schema.get("discriminator")
    if discriminator is None:
        return {}
    return {kind: resolve({"$ref": reference}) for kind, reference in discriminator["mapping"].items()}


def choose(schema: Schema, value: Any, kind: str | None = None) -> Schema:
    """The branch of a discriminated union that `value` (or `kind`) says; other schemas unchanged."""
    offered = kinds(schema)
    if not offered:
        return schema
    if kind is None and isinstance(value, dict):
        kind = value.get(schema["discriminator"]["propertyName"])
    if kind not in offered:
        raise UnknownPath(f"no such kind: {kind!r}")
    return offered[kind]


def schema_at(pointer: str, value: Any = None, kind: str | None = None) -> Schema:
    """Schema of the object at `pointer`; `value` (what is there) or `kind` decides between kinds.

    Raises UnknownPath where the document can have nothing.
    """
    schema: Schema = json_schema()
    for token in split(pointer):
        schema, _ = without_null(schema)
        if is_mapping(schema):
            schema = value_schema(schema)
        elif token in schema.get("properties", {}):
            schema = schema["properties"][token]
        else:
            raise UnknownPath(pointer)
    schema, _ = without_null(schema)
    return choose(schema, value, kind)
