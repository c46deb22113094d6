"""The canonical form of a document: defaults left out, keys in a stable order, and its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from appliance.config.document import RouterConfig
from appliance.config.shape import Fields, Items, Keyed, Shape, Tagged, document, has_maps
from appliance.config.written import Part, Written, json_text

Secrets = Literal["mask", "reveal"] | Callable[[str], str]
"""How secrets are written: masked, in clear, or through a function from clear to stored text."""

Texts = Mapping[Part, str]
"""JSON text of each part that a document has; equal texts are equal parts, ``1`` and ``true`` differ."""

NESTED = "routing"
VERSION = "schema_version"
"""The one field outside all parts."""


def dump(config: RouterConfig, secrets: Secrets = "mask") -> dict[str, Any]:
    """The canonical JSON-able form: ``schema_version`` and an interface's ``type`` always, defaults never.

    Model fields keep the order of the model; names are sorted, numbers by value.
    """
    context = None if secrets == "mask" else {"secrets": secrets}
    plain = config.model_dump(mode="json", exclude_defaults=True, context=context)
    ordered = _ordered(plain, document())
    return {"schema_version": config.schema_version, **ordered}


def dumps(config: RouterConfig, secrets: Secrets = "mask") -> str:
    """The canonical form as indented JSON text ending in a newline."""
    return json.dumps(dump(config, secrets), indent=2) + "\n"


def digest(canonical: Mapping[str, Any]) -> str:
    """SHA-256, in hex, of a canonical form; independent of the order of keys.

    Compute it from the stored form: a masked form hides a changed secret.
    """
    return digest_of(part_texts(canonical))


def digest_of(texts: Texts) -> str:
    """The same from the texts of a canonical form's parts."""
    lines = (f"{json.dumps(part)} {texts[part]}\n" for part in sorted(texts))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def part_texts(
    document: Mapping[str, Any],
    like: Mapping[str, Any] | None = None,
    known: Texts | None = None,
    written: Written | None = None,
) -> dict[Part, str]:
    """Each part of a document. Raises TypeError, ValueError or RecursionError for anything but JSON.

    ``known`` are the texts of ``like``: a part that is the very object of ``like`` is not written again, nor
    is one that ``written`` remembers.
    """
    there = {part: value for part, value in parts_of(like or {}) if part in (known or {})}
    texts = {}
    for part, value in parts_of(document):
        if known and part in there and there[part] is value:
            texts[part] = known[part]
        else:
            texts[part] = json_text(value) if written is None else written.text(part, value)
    if written is not None:
        written.keep(texts)
    return texts


def parts_of(document: Mapping[str, Any]) -> Iterator[tuple[Part, Any]]:
    """The independent parts, each with its content."""
    for key, value in document.items():
        if key == NESTED and isinstance(value, Mapping):
            for name, part in value.items():
                yield (key, name), part
        elif key != VERSION:
            yield (key,), value


def natural(key: str) -> tuple[int, int, str]:
    """Sort key: numbers by value, before text."""
    return (0, int(key), "") if key.isascii() and key.isdecimal() and len(key) < 20 else (1, 0, key)


def _ordered(node: Any, shape: Shape) -> Any:
    if not has_maps(shape):
        # Already in the order of the model.
        return node
    if isinstance(shape, Keyed) and isinstance(node, dict):
        if not has_maps(shape.value):
            return {key: node[key] for key in sorted(node, key=natural)}
        return {key: _ordered(node[key], shape.value) for key in sorted(node, key=natural)}
    if isinstance(shape, Tagged) and isinstance(node, dict):
        return _ordered(node, shape.choices[node[shape.tag]])
    if isinstance(shape, Fields) and isinstance(node, dict):
        return {key: _ordered(value, shape.fields[key]) for key, value in node.items()}
    if isinstance(shape, Items) and isinstance(node, list):
        return [_ordered(item, shape.item) for item in node]
    return node
