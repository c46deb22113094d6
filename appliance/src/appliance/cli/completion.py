"""Completion: the words that can come next, from the schema and the document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from appliance.cli.errors import CommandError
from appliance.cli.words import Place, place, value_at
from appliance.config import schema
from appliance.config.pointer import join

Choice = tuple[str, str]
"""A word and its description."""


def set_choices(base: tuple[str, ...], words: list[str], document: Any) -> list[Choice]:
    """What can follow ``set WORDS``."""
    try:
        where = place(base, document)
        owner = where
        for word in words:
            if where.is_object:
                owner, where = where, place((*where.tokens, word), document)
            elif where.is_list and _items(where).get("type") == "object":
                owner, where = _element(where), Place((*where.tokens, "-", word), _property(where, word))
            else:
                # After a value comes the next setting of the same object.
                where = owner if owner.is_object else where
        return _choices(where, document)
    except (CommandError, KeyError):
        return []


def delete_choices(base: tuple[str, ...], words: list[str], document: Any) -> list[Choice]:
    """What can follow ``delete WORDS``: only what is set."""
    found = value_at(document, join((*base, *words)))
    if isinstance(found, dict):
        return [(key, "") for key in found]
    if isinstance(found, list):
        return [
            (str(item) if not isinstance(item, dict) else str(index), "") for index, item in enumerate(found)
        ]
    return []


def path_choices(base: tuple[str, ...], words: list[str], document: Any) -> list[Choice]:
    """What can follow ``edit WORDS`` or ``show WORDS``: levels that have settings below them."""
    return [
        choice for choice in set_choices(base, words, document) if _is_object(base, words, choice, document)
    ]


def _is_object(base: tuple[str, ...], words: list[str], choice: Choice, document: Any) -> bool:
    try:
        return place((*base, *words, choice[0]), document).is_object
    except CommandError:
        return False


def _items(where: Place) -> dict[str, Any]:
    return schema.resolved(where.node["items"])


def _element(where: Place) -> Place:
    return Place((*where.tokens, "-"), _items(where))


def _property(where: Place, word: str) -> dict[str, Any]:
    return schema.resolved(_items(where)["properties"][word])


def _choices(where: Place, document: Any) -> list[Choice]:
    if where.is_object:
        known = value_at(document, where.pointer)
        entry = schema.entry_of(where.node)
        if entry is not None:
            names: Iterable[str] = known if isinstance(known, dict) else ()
            names = [*names, *_names(schema.keys_refer_to(where.node), document)]
            return [(key, entry.get("title", "")) for key in dict.fromkeys(names)]
        return [(key, _about(item)) for key, item in where.node.get("properties", {}).items()]
    node = _items(where) if where.is_list else where.node
    if where.is_list and node.get("type") == "object":
        return [(key, _about(item)) for key, item in node["properties"].items()]
    if mapping := schema.refers_to(node, where.pointer):
        return [(key, "") for key in _names(mapping, document)]
    return _values(node)


def _names(mapping: str, document: Any) -> Iterable[str]:
    """The names in the mapping at this pointer; none if there is no pointer."""
    found = value_at(document, mapping) if mapping else None
    return found if isinstance(found, dict) else ()


def _values(node: dict[str, Any]) -> list[Choice]:
    if node.get("type") == "boolean":
        return [("true", ""), ("false", "")]
    values = list(node.get("enum", [node["const"]] if "const" in node else []))
    for choice in node.get("anyOf", []):
        values += choice.get("enum", [])
    if not values and node.get("default") not in (None, "", [], {}):
        return [(str(node["default"]), "the default")]
    return [(str(item), "") for item in values]


def _about(item: dict[str, Any]) -> str:
    node = schema.resolved(item)
    return str(item.get("title") or node.get("title") or "")
