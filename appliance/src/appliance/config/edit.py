"""Edits of one place of a document, sent to the agent and applied there or in a change set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from appliance.config import pointer as pointers
from appliance.config.secrets_in import masked, unmask
from appliance.config.shape import Fields, Items, Keyed, Shape, Tagged
from appliance.config.shape import document as document_shape
from appliance.errors import NotFound, Problem, ValidationFailed

Document = dict[str, Any]
MAX_DEPTH = 64
_CONTAINERS = (dict, list, tuple)


class Edit(BaseModel):
    """What is to be done at one place of a document."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["put", "remove", "merge_patch", "json_patch"]
    """``merge_patch`` is RFC 7396, ``json_patch`` RFC 6902 with paths relative to the pointer."""
    pointer: str
    value: Any = None
    """The new value, or the patch."""

    def applied(self, document: Mapping[str, Any]) -> Document:
        """The canonical, sealed ``document`` with this edit applied; unchanged parts are shared with it.

        It is not validated. Newly given secrets are in clear; masked ones are those that were there. Raises
        NotFound, or ValidationFailed with pointers into the document.
        """
        pointer = canonical_pointer(self.pointer, document)
        edited = self._applied(document, pointer)
        if not isinstance(edited, Mapping):
            raise ValidationFailed([Problem("", "is not a JSON object")])
        return unmasked(edited, document)

    def _applied(self, document: Mapping[str, Any], pointer: str) -> Any:
        if self.kind == "put":
            return pointers.put(document, pointer, self.value)
        if self.kind == "remove":
            return pointers.delete(document, pointer)
        check_depth(self.value)
        before = pointers.resolve(document, pointer) if pointers.exists(document, pointer) else {}
        change = pointers.merge_patch if self.kind == "merge_patch" else pointers.json_patch
        return pointers.put(document, pointer, change(before, self.value))


def unmasked(document: Mapping[str, Any], base: Mapping[str, Any]) -> Document:
    """``document`` with the masked secrets of ``base`` at the same place.

    Raises ValidationFailed if there is none, or if it nests too deep to be searched.
    """
    check_depth(document, base)
    opened: Document = unmask(dict(document), base)
    if left := masked(opened):
        raise ValidationFailed(
            [Problem(place, "is masked, and there is no secret here to keep") for place in left]
        )
    return opened


def canonical_pointer(pointer: str, document: Mapping[str, Any]) -> str:
    """`pointer` with its keys in canonical form (``2001:DB8::~132`` is ``2001:db8::~132``).

    Raises NotFound if the schema has no such place, and ValidationFailed for an invalid pointer.
    """
    tokens = pointers.split(pointer)
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


def check_depth(value: Any, known: Any = None) -> None:
    """Raise ValidationFailed for a value nested so deep that walking it could fail. Never recurses.

    Parts that the value shares with ``known``, which was checked before, are not checked again.
    """
    shared: list[tuple[Any, Any]] = [(value, known)]
    level: list[Any] = []
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _inner(node)]
        below: list[tuple[Any, Any]] = []
        for node, before in shared:
            if isinstance(node, dict) and isinstance(before, dict):
                below += [
                    (child, before.get(key))
                    for key, child in node.items()
                    if isinstance(child, _CONTAINERS) and child is not before.get(key)
                ]
            else:
                level += _inner(node)
        shared = below
        if not level and not shared:
            return
    raise ValidationFailed([Problem("", f"nests deeper than {MAX_DEPTH} levels")])


def _inner(node: Any) -> list[Any]:
    """The containers in one."""
    children = node.values() if isinstance(node, dict) else node if isinstance(node, (list, tuple)) else ()
    return [child for child in children if isinstance(child, _CONTAINERS)]
