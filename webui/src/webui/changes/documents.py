"""Edits of sealed documents: each takes and gives the canonical form with sealed secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.config import pointer as pointers
from appliance.config.dump import dump
from appliance.config.load import parse_document
from appliance.config.secrets_in import masked, secrets_of, unmask
from appliance.config.shape import Fields, Items, Keyed, Shape, Tagged
from appliance.config.shape import document as document_shape
from appliance.errors import NotFound, Problem, ValidationFailed
from webui.agent import agent
from webui.errors import RequestProblem

Document = dict[str, Any]
MAX_DEPTH = 64


def canonical_pointer(pointer: str, document: Mapping[str, Any]) -> str:
    """`pointer` with its keys in canonical form (``2001:DB8::~132`` is ``2001:db8::~132``).

    Raises NotFound where the schema has no such place, and RequestProblem for what is no pointer.
    """
    try:
        tokens = pointers.split(pointer)
    except ValidationFailed as error:
        raise RequestProblem(400, error.problems[0].message) from None
    shape: Shape = document_shape()
    node: Any = document
    known: list[str] = []
    for token in tokens:
        if isinstance(shape, Tagged):
            shape = _chosen(shape, node, token)
        if isinstance(shape, Fields):
            if token not in shape.fields:
                raise NotFound(f"{pointer}: there is no setting {token!r:.80}")
            shape = shape.fields[token]
        elif isinstance(shape, Keyed):
            known.append(_key(shape, token, pointer))
            shape, node = shape.value, _child(node, known[-1])
            continue
        elif isinstance(shape, Items) and (token == "-" or (token.isascii() and token.isdecimal())):
            shape = shape.item
        else:
            raise NotFound(f"{pointer}: there is no setting {token!r:.80}")
        known.append(token)
        node = _child(node, token)
    return pointers.join(known)


def _child(node: Any, token: str) -> Any:
    return node.get(token) if isinstance(node, Mapping) else None


def _chosen(shape: Tagged, node: Any, token: str) -> Shape:
    tag = node.get(shape.tag) if isinstance(node, Mapping) else None
    if tag in shape.choices:
        return shape.choices[tag]
    return next((choice for choice in shape.choices.values() if token in choice.fields), shape)


def _key(shape: Keyed, token: str, pointer: str) -> str:
    try:
        return str(shape.key.validate_strings(token))
    except ValueError:
        raise NotFound(f"{pointer}: {token!r:.80} cannot be a name here") from None


def value_at(document: Mapping[str, Any], pointer: str) -> Any:
    """What is at the pointer of a canonical document; where it says nothing, the default. Raises NotFound."""
    pointer = canonical_pointer(pointer, document)
    try:
        return pointers.resolve(document, pointer)
    except NotFound:
        whole = parse_document(document).model_dump(mode="json", context={"secrets": "reveal"})
        value = pointers.resolve(whole, pointer)
        if value is None:
            raise NotFound(f"{pointer} is not set") from None
        return {} if isinstance(value, dict) else value


def put(document: Document, pointer: str, value: Any) -> Document:
    """The document with `value` at the pointer. Raises ValidationFailed with pointers into the document."""
    return read(pointers.put(document, canonical_pointer(pointer, document), value), document)


def remove(document: Document, pointer: str) -> Document:
    """The document without what is there. Raises NotFound, or ValidationFailed where it is required."""
    pointer = canonical_pointer(pointer, document)
    if pointer == "":
        return read({}, document)
    return read(pointers.delete(document, pointer), document)


def merge_patch(document: Document, pointer: str, patch: Any) -> Document:
    """The document after an RFC 7396 patch of the value at the pointer."""
    check_depth(patch)
    pointer = canonical_pointer(pointer, document)
    before = pointers.resolve(document, pointer) if pointers.exists(document, pointer) else {}
    return read(pointers.put(document, pointer, pointers.merge_patch(before, patch)), document)


def json_patch(document: Document, pointer: str, operations: Any) -> Document:
    """The document after an RFC 6902 patch whose paths are relative to the pointer; all of it or nothing."""
    check_depth(operations)
    pointer = canonical_pointer(pointer, document)
    before = pointers.resolve(document, pointer) if pointers.exists(document, pointer) else {}
    return read(pointers.put(document, pointer, pointers.json_patch(before, operations)), document)


def rename(document: Document, pointer: str, new_key: str) -> Document:
    """The document with the object at `pointer` under another key of the same mapping."""
    pointer = canonical_pointer(pointer, document)
    tokens = pointers.split(pointer)
    target = canonical_pointer(pointers.join([*tokens[:-1], new_key]), document)
    if target != pointer and pointers.exists(document, target):
        raise ValidationFailed([Problem(target, "exists already")])
    value = pointers.resolve(document, pointer)
    return read(pointers.put(pointers.delete(document, pointer), target, value), document)


def read(document: Any, base: Mapping[str, Any]) -> Document:
    """The canonical, sealed form of `document`; masked secrets are taken from `base` at the same place."""
    if not isinstance(document, Mapping):
        raise ValidationFailed([Problem("", "a configuration document is a JSON object")])
    check_depth(document)
    opened = unmask(dict(document), dict(base))
    if left := masked(opened):
        raise ValidationFailed(
            [Problem(place, "is masked, and there is no secret here to keep") for place in left]
        )
    canonical = dump(parse_document(opened), "reveal")
    if any(not text.startswith("$sealed$") for text in secrets_of(canonical).values()):
        sealed: Document = agent().seal(canonical)
        return sealed
    return canonical


def check_depth(value: Any) -> None:
    """Raise ValidationFailed for what nests so deep that walking it could fail. Never recurses."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            if isinstance(node, (dict, list, tuple))
            for child in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return
    raise ValidationFailed([Problem("", f"nests deeper than {MAX_DEPTH} levels")])
