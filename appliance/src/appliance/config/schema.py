"""The document's JSON Schema, and the part of it that describes one place of the document."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from appliance.config.document import RouterConfig
from appliance.config.pointer import split
from appliance.errors import NotFound
from frr_config.references import KEYWORD, MAY_BE_ABSENT, OWN_VRF

JsonSchema = dict[str, Any]


@cache
def json_schema() -> JsonSchema:
    """JSON Schema (2020-12) of a RouterConfig; every field has a title and a description. Read only."""
    return RouterConfig.model_json_schema(mode="validation")


def at(pointer: str, document: Any = None) -> JsonSchema:
    """Schema of the value at ``pointer``: references followed, ``null`` left out of optional values.

    If a place can be one of several kinds, ``document`` (plain, may be partial) decides by its ``type``;
    without it the kinds are combined and ``type`` lists them. Raises NotFound if no setting can be there.
    """
    node = resolved(json_schema())
    value = document
    for token in split(pointer):
        node = child(_kind(node, value), token, pointer)
        value = _value(value, token)
    return _kind(node, value)


def resolved(node: JsonSchema) -> JsonSchema:
    """``node`` with its reference followed and the ``null`` alternative left out."""
    if "$ref" in node:
        target = json_schema()["$defs"][node["$ref"].removeprefix("#/$defs/")]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    if "anyOf" in node:
        choices = [choice for choice in node["anyOf"] if choice.get("type") != "null"]
        rest = {key: value for key, value in node.items() if key != "anyOf"}
        if len(choices) == 1:
            return resolved({**resolved(choices[0]), **rest})
        return {**rest, "anyOf": choices}
    return node


def is_optional(node: JsonSchema) -> bool:
    """Whether ``null`` is a value of it."""
    return any(choice.get("type") == "null" for choice in node.get("anyOf", ()))


def kinds(node: JsonSchema) -> dict[str, JsonSchema]:
    """The kinds that an object can be one of, by the value that says which; empty for any other schema."""
    mapping = node.get("discriminator", {}).get("mapping", {})
    return {kind: resolved({"$ref": reference}) for kind, reference in mapping.items()}


def _kind(node: JsonSchema, value: Any) -> JsonSchema:
    known = kinds(node)
    if not known:
        return node
    tag = node["discriminator"]["propertyName"]
    chosen = value.get(tag) if isinstance(value, Mapping) else None
    if chosen in known:
        return known[chosen]
    properties: JsonSchema = {}
    for kind in known.values():
        properties = {**kind["properties"], **properties}
    properties[tag] = {**properties[tag], "enum": list(known)}
    properties[tag].pop("const", None)
    return {"type": "object", "title": node.get("title", ""), "properties": properties, "required": [tag]}


def child(node: JsonSchema, token: str, pointer: str) -> JsonSchema:
    """Schema of the place one step below ``node``. Raises NotFound, naming ``pointer``."""
    if token in node.get("properties", {}):
        return resolved(node["properties"][token])
    if node.get("type") == "array" and (token == "-" or token.isdecimal()):
        return resolved(node["items"])
    if (entry := entry_of(node)) is not None:
        return entry
    raise NotFound(f"{pointer}: there is no setting {token}")


def raw_entry_of(node: JsonSchema) -> JsonSchema | None:
    """Schema of any entry of a mapping by name as it stands there, or None if ``node`` is not one."""
    entries = node.get("patternProperties") or {"": node.get("additionalProperties")}
    entry = next(iter(entries.values()))
    return entry if isinstance(entry, dict) else None


def entry_of(node: JsonSchema) -> JsonSchema | None:
    """The same with its reference followed."""
    entry = raw_entry_of(node)
    return None if entry is None else resolved(entry)


def key_of(mapping: JsonSchema) -> JsonSchema:
    """Schema of a mapping's keys."""
    names = resolved(mapping.get("propertyNames", {}))
    patterns = mapping.get("patternProperties")
    return {"type": "string", **names, **({"pattern": next(iter(patterns))} if patterns else {})}


def refers_to(node: JsonSchema, at: str = "") -> str:
    """Pointer of the mapping of which a text, or each item of a list, names an entry; empty for any other.

    ``at`` is the place of the text: in the routing of a VRF it may name an object of that VRF.
    """
    found = _referring(node)
    if found is None:
        return ""
    return mapping_at(str(found[KEYWORD]), at) if OWN_VRF in found else str(found[KEYWORD])


def refers_to_own_vrf(node: JsonSchema) -> bool:
    """Whether the mapping is that of the VRF in whose routing the text stands."""
    found = _referring(node)
    return found is not None and OWN_VRF in found


def mapping_at(mapping: str, at: str) -> str:
    """The mapping, belonging to each VRF, that is meant at this place."""
    vrf = "/".join(at.split("/")[:3]) if at.startswith("/vrfs/") else ""
    return vrf + mapping


def _referring(node: JsonSchema) -> JsonSchema | None:
    if KEYWORD in node:
        return node
    if isinstance(node.get("items"), dict):
        return _referring(resolved(node["items"]))
    return next((found for choice in node.get("anyOf", ()) if (found := _referring(choice))), None)


def must_refer(node: JsonSchema) -> bool:
    """Whether the text can only be the name of an object that must exist."""
    return KEYWORD in node and not node.get(MAY_BE_ABSENT)


def keys_refer_to(node: JsonSchema) -> str:
    """The same for the keys of a mapping."""
    return refers_to(node.get("propertyNames", {}))


def _value(value: Any, token: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(token)
    if isinstance(value, (list, tuple)) and token.isdecimal() and int(token) < len(value):
        return value[int(token)]
    return None
