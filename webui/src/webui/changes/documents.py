"""Edits of sealed documents, from and to the canonical form with sealed secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from appliance.config import edit, schema, sections
from appliance.config import pointer as pointers
from appliance.config.edit import Document, Edit, check_depth
from appliance.config.load import parse_document
from appliance.config.secrets_in import secrets_of
from appliance.errors import NotFound, Problem, ValidationFailed
from webui.agent import agent
from webui.errors import RequestProblem

__all__ = [
    "Document", "Edit", "canonical_pointer", "check_depth", "edited", "has_clear_secrets", "made",
    "put", "read", "remove", "rename", "require_pointer", "sealed", "value_at",
]  # fmt: skip


def canonical_pointer(pointer: str, document: Mapping[str, Any]) -> str:
    """See `appliance.config.edit`. Raises NotFound, and RequestProblem for an invalid pointer."""
    require_pointer(pointer)
    return edit.canonical_pointer(pointer, document)


def require_pointer(pointer: str) -> None:
    """Raise RequestProblem for an invalid JSON pointer."""
    try:
        pointers.split(pointer)
    except ValidationFailed as error:
        raise RequestProblem(400, error.problems[0].message) from None


def value_at(document: Mapping[str, Any], pointer: str) -> Any:
    """The value at the pointer of a canonical document, or its default where none is set. Raises NotFound.

    A collection that nobody put anything into is empty, also in a section that is not set.
    """
    pointer = canonical_pointer(pointer, document)
    try:
        return pointers.resolve(document, pointer)
    except NotFound:
        whole = parse_document(document).model_dump(mode="json", context={"secrets": "reveal"})
    value = _default(whole, pointer)
    return {} if isinstance(value, dict) else value


def _default(whole: Document, pointer: str) -> Any:
    """``whole`` has every setting, and null for a section that is not set."""
    value: Any = whole
    tokens = pointers.split(pointer)
    for count in range(1, len(tokens) + 1):
        value = pointers.resolve(whole, pointers.join(tokens[:count]))
        if value is None:
            break
    else:
        return value
    for below in range(count + 1, len(tokens) + 1):
        place = schema.at(pointers.join(tokens[:below]))
        if schema.entry_of(place) is not None or place.get("type") == "array":
            if below == len(tokens):
                return [] if place.get("type") == "array" else {}
            break
    raise NotFound(f"{pointers.join(tokens[:count])} is not set")


def edited(document: Document, wanted: Edit) -> Document:
    """The document after an edit. Raises NotFound, or ValidationFailed with pointers into the document."""
    return sealed(made(document, wanted))


def made(document: Document, wanted: Edit) -> Document:
    """The same document with newly given secrets in clear: never to be stored."""
    require_pointer(wanted.pointer)
    return sections.canonical(wanted.applied(document), document)


def put(document: Document, pointer: str, value: Any) -> Document:
    """The document with `value` at the pointer. Raises ValidationFailed with pointers into the document."""
    return edited(document, Edit(kind="put", pointer=pointer, value=value))


def remove(document: Document, pointer: str) -> Document:
    """The document without the value at the pointer. Raises NotFound, or ValidationFailed where it is
    required.
    """
    return edited(document, Edit(kind="remove", pointer=pointer))


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
        raise ValidationFailed([Problem("", "is not a JSON object")])
    return sealed(sections.canonical(edit.unmasked(document, base), base))


def sealed(canonical: Document) -> Document:
    """A canonical document with its secrets sealed; the agent seals them where one is in clear."""
    return agent().seal(canonical) if has_clear_secrets(canonical) else canonical


def has_clear_secrets(canonical: Document) -> bool:
    """Whether it holds a secret that still has to be sealed."""
    return any(not text.startswith("$sealed$") for text in secrets_of(canonical).values())
