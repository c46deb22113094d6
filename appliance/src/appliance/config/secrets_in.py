"""Where the document holds secrets, derived from its models."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr

from appliance.config.document import RouterConfig
from appliance.config.pointer import escape, put, split
from frr_config.types import MASK

Tree = dict[str, Any]
"""Field name, or ``*`` for any key, to a tree below it, or to True where a secret stands."""


@dataclass(frozen=True)
class SecretPointers:
    """The places of secrets in a document."""

    tree: Tree

    def below(self, pointer: str) -> Any:
        """True when the value at ``pointer`` is a secret, a tree of those below it, or None."""
        node: Any = self.tree
        for token in split(pointer):
            if node is True:
                return True
            node = node.get(token, node.get("*"))
            if node is None:
                return None
        return node


@cache
def secret_pointers() -> SecretPointers:
    """The places of secrets in a RouterConfig."""
    return SecretPointers(_of(RouterConfig) or {})


def masked(document: Any) -> list[str]:
    """Pointers of secrets in a plain document that are masked instead of given."""
    return [pointer for pointer, value in _walk(document, secret_pointers().tree, "") if value == MASK]


def unmask(document: Any, base: Any) -> Any:
    """``document`` with each masked secret replaced by the one at the same place of ``base``.

    So a document that was read with secrets masked can be written back without changing them.
    """
    known = dict(_walk(base, secret_pointers().tree, ""))
    for pointer in masked(document):
        if pointer in known:
            document = put(document, pointer, known[pointer])
    return document


def _walk(node: Any, tree: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    if tree is True:
        yield pointer, node
    elif isinstance(node, Mapping):
        for key, value in node.items():
            below = tree.get(key, tree.get("*"))
            if below is not None:
                yield from _walk(value, below, f"{pointer}/{escape(key)}")
    elif isinstance(node, (list, tuple)) and "*" in tree:
        for index, value in enumerate(node):
            yield from _walk(value, tree["*"], f"{pointer}/{index}")


def _of(annotation: Any) -> Any:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _of(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        merged: Tree = {}
        for member in get_args(annotation):
            found = _of(member)
            if found is True:
                return True
            merged.update(found or {})
        return merged or None
    if origin is dict:
        found = _of(get_args(annotation)[1])
        return {"*": found} if found else None
    if origin in (tuple, list):
        found = _of(get_args(annotation)[0])
        return {"*": found} if found else None
    if isinstance(annotation, type) and issubclass(annotation, SecretStr):
        return True
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = {name: _of(info.annotation) for name, info in annotation.model_fields.items()}
        return {name: found for name, found in fields.items() if found} or None
    return None
