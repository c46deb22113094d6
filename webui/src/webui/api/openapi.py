"""The configuration's own schema within the OpenAPI document: components, typed paths and bodies."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from appliance.config.document import RouterConfig
from appliance.config.schema import raw_entry_of
from appliance.config.shape import Fields, Keyed, Shape, Tagged, document

Json = dict[str, Any]
REF = "#/components/schemas/{model}"
_PROBLEM = "Problem"
_ROOT = "/api/v1/config"
_KEY_NAMES = {
    "interfaces": "name",
    "static": "prefix",
    "neighbors": "address",
    "areas": "area",
    "rules": "sequence",
}
"""The name of a mapping's key in a path; ``name`` for a mapping that is not listed."""


@dataclass(frozen=True)
class ConfigPath:
    """A place in the configuration with a path of its own in OpenAPI."""

    template: str
    """Below /config, such as ``/routing/static/{prefix}``."""
    parameters: tuple[tuple[str, Json], ...]
    """Path parameters and their schemas."""
    schema: Json
    title: str
    operation: str
    """Part of its operation ids, such as ``routing_static_prefix``."""


def config_paths() -> Iterator[ConfigPath]:
    """Sections, collections and their entries, in the order of the document."""
    schemas = config_schemas()
    yield from _walk(document(), schemas["RouterConfig"], "", (), schemas)


def config_schemas() -> Json:
    """JSON Schema of every model of the configuration, by name."""
    whole = RouterConfig.model_json_schema(mode="validation", ref_template=REF)
    definitions: Json = whole.pop("$defs")
    return {**definitions, "RouterConfig": whole}


def _walk(
    shape: Shape, schema: Json, path: str, parameters: tuple[tuple[str, Json], ...], schemas: Json
) -> Iterator[ConfigPath]:
    if isinstance(shape, Fields):
        for name, inner in shape.fields.items():
            own = schema["properties"][name]
            if not _has_path(inner, path):
                continue
            below = f"{path}/{name}"
            yield _path(below, parameters, own, own.get("title", name))
            yield from _walk(inner, _followed(own, schemas), below, parameters, schemas)
    elif isinstance(shape, Keyed) and not path.endswith("}") and isinstance(shape.value, (Fields, Tagged)):
        collection = path.rsplit("/", 1)[-1]
        name = _unused(_KEY_NAMES.get(collection, "name"), parameters)
        entry = dict(raw_entry_of(schema) or {})
        inner_parameters = (*parameters, (name, shape.key.json_schema()))
        below = f"{path}/{{{name}}}"
        yield _path(below, inner_parameters, entry, f"an entry of {schema.get('title', collection)}")
        if isinstance(shape.value, Fields):
            yield from _walk(shape.value, _followed(entry, schemas), below, inner_parameters, schemas)


def _has_path(shape: Shape, path: str) -> bool:
    """Sections, collections, and the way to a collection; smaller parts are addressed by pointer."""
    if isinstance(shape, Keyed):
        return isinstance(shape.value, (Fields, Tagged))
    if isinstance(shape, Fields):
        return path == "" or any(
            isinstance(inner, Keyed) or _has_path(inner, "/") for inner in shape.fields.values()
        )
    return False


def _unused(name: str, parameters: tuple[tuple[str, Json], ...]) -> str:
    return f"{name}_{len(parameters)}" if name in dict(parameters) else name


def _followed(schema: Json, schemas: Json) -> Json:
    for choice in schema.get("anyOf", (schema,)):
        if "$ref" in choice:
            found: Json = schemas[choice["$ref"].rsplit("/", 1)[-1]]
            return found
    return schema


def _path(template: str, parameters: tuple[tuple[str, Json], ...], schema: Json, title: str) -> ConfigPath:
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    plain = (
        choices[0]
        if len(choices) == 1
        else {k: v for k, v in schema.items() if k not in ("default", "title")}
    )
    words = [word.strip("{}") for word in template.split("/") if word]
    return ConfigPath(template, parameters, plain, title, "_".join(words))


def complete(base: Json) -> Json:
    """Ninja's document with the configuration's schemas, its typed paths, and the shape of errors."""
    whole: Json = copy.deepcopy(dict(base))
    schemas = whole["components"].setdefault("schemas", {})
    own = config_schemas()
    if taken := own.keys() & schemas.keys():
        raise ValueError(f"the API's own schemas and the configuration's both name {sorted(taken)}")
    schemas.update(own)
    schemas[_PROBLEM] = _problem_schema()
    schemas["JsonPatch"] = _json_patch_schema()
    whole["components"]["responses"] = {
        _PROBLEM: {
            "description": "What went wrong (RFC 9457).",
            "content": {"application/problem+json": {"schema": {"$ref": REF.format(model=_PROBLEM)}}},
        }
    }
    paths = whole["paths"]
    catch_all = paths.pop(f"{_ROOT}/{{pointer}}")
    _describe(paths[_ROOT], {"$ref": REF.format(model="RouterConfig")})
    for place in config_paths():
        paths[_ROOT + place.template] = _typed(catch_all, place)
    _describe(catch_all, {})
    paths[f"{_ROOT}/{{pointer}}"] = catch_all
    for operations in paths.values():
        for method, operation in operations.items():
            _finish(method, operation)
    _plain_references(whole)
    return whole


def _plain_references(node: Any) -> None:
    """A reference with words beside it stands without ``allOf``, and without a default.

    OpenAPI 3.1 lets words stand beside a reference. Generators of clients leave out a model with an object as
    default, which only answers have: they always give the value.
    """
    if isinstance(node, dict):
        if len(node.get("allOf", ())) == 1 and "$ref" in node["allOf"][0]:
            node |= node.pop("allOf")[0]
            node.pop("default", None)
        for child in node.values():
            _plain_references(child)
    elif isinstance(node, list):
        for child in node:
            _plain_references(child)


def _typed(catch_all: Json, place: ConfigPath) -> Json:
    operations: Json = copy.deepcopy(catch_all)
    for method, operation in operations.items():
        operation["operationId"] = f"{method}_config_{place.operation}"
        operation["summary"] = f"{operation['summary'].split()[0]} {place.title}"
        operation["parameters"] = [
            *({"in": "path", "name": name, "required": True, "schema": schema,
               "description": "A slash within it is written ~1, and ~ is written ~0."}
              for name, schema in place.parameters),
            *(one for one in operation["parameters"] if one["in"] != "path"),
        ]  # fmt: skip
    _describe(operations, place.schema)
    return operations


def _describe(operations: Json, schema: Json) -> None:
    """Bodies and answers of the four methods at a place with this schema."""
    version = {
        "ETag": {"description": "Digest of the whole document.", "schema": {"type": "string"}},
    }
    for method, operation in operations.items():
        operation["parameters"] = [*operation["parameters"], *_headers(method)]
        if method == "get":
            operation["responses"] = {
                "200": {
                    "description": "OK",
                    "headers": version,
                    "content": {
                        "application/json": {"schema": _masked(schema)},
                        "text/plain": {"schema": {"type": "string", "description": "With format=set."}},
                    },
                },
                "304": {"description": "Not Modified"},
            }  # fmt: skip
            continue
        operation["responses"] = {
            "200": {
                "description": "The commit; with dry_run its plan; with change the change set.",
                "content": {"application/json": {"schema": {"anyOf": [
                    {"$ref": REF.format(model=model)} for model in ("CommitOut", "PreviewOut", "ChangeSetOut")
                ]}}},
            },
            "202": {
                "description": "The commit still runs; Location is where to ask.",
                "content": {"application/json": {"schema": {"$ref": REF.format(model="CommitOut")}}},
            },
        }  # fmt: skip
        if method == "put":
            operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        elif method == "patch":
            operation["requestBody"] = {"required": True, "content": {
                "application/merge-patch+json": {"schema": {}},
                "application/json-patch+json": {"schema": {"$ref": REF.format(model="JsonPatch")}},
            }}  # fmt: skip


def _masked(schema: Json) -> Json:
    """Answers omit defaults and mask secrets, so only the type of the value is promised."""
    return (
        {"description": "As written, without defaults; secrets are masked.", "x-schema": schema}
        if schema
        else {}
    )


def _headers(method: str) -> list[Json]:
    text = {"type": "string", "maxLength": 255}
    if method == "get":
        return [{"in": "header", "name": "If-None-Match", "required": False, "schema": text}]
    return [
        {"in": "header", "name": "If-Match", "required": False, "schema": text,
         "description": "Only if the document's digest is still this one; else 412."},
        {"in": "header", "name": "Idempotency-Key", "required": False, "schema": {**text, "minLength": 1},
         "description": "A repeated request with its key is done once."},
    ]  # fmt: skip


def _finish(method: str, operation: Json) -> None:
    """Every operation reports its errors in the same form."""
    operation["responses"] = {str(status): answer for status, answer in operation["responses"].items()}
    operation["responses"]["default"] = {"$ref": f"#/components/responses/{_PROBLEM}"}
    if method == "get":
        operation.pop("requestBody", None)


def _json_patch_schema() -> Json:
    pointer = {"type": "string", "pattern": "^(/([^/~]|~[01])*)*$"}
    return {
        "title": "JSON Patch",
        "description": "RFC 6902; paths are relative to the place that is patched.",
        "type": "array",
        "items": {
            "type": "object",
            "required": ["op", "path"],
            "properties": {
                "op": {"enum": ["add", "remove", "replace", "move", "copy", "test"]},
                "path": pointer,
                "from": pointer,
                "value": {},
            },
        },
    }


def _problem_schema() -> Json:
    return {
        "title": "Problem",
        "type": "object",
        "description": "What went wrong (RFC 9457).",
        "required": ["type", "title", "status", "detail", "errors"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["pointer", "detail"],
                    "properties": {
                        "pointer": {"type": "string", "description": "JSON pointer (RFC 6901)."},
                        "in": {"type": "string", "description": "What it points into: query, path or body."},
                        "detail": {"type": "string"},
                    },
                },
            },
        },
    }
