"""The independent parts of a document, so that unchanged ones are not read again.

A part is a top-level field, or a field of ``routing``. Models check nothing across parts (``check`` does that
on the whole document), so a part with the same text as the running one is the running one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from appliance.config.document import SCHEMA_VERSION, RouterConfig
from appliance.config.dump import NESTED, Texts, dump, part_texts, parts_of
from appliance.config.load import parse_document
from appliance.config.written import Part, Written
from frr_config import Routing


def texts(
    document: Mapping[str, Any],
    running: Mapping[str, Any] | None = None,
    known: Texts | None = None,
    written: Written | None = None,
) -> dict[Part, str] | None:
    """The parts of a plain document; None for anything but JSON, which cannot be compared in this way.

    Parts shared with ``running`` take the ``known`` texts, others those ``written`` last.
    """
    try:
        return part_texts(document, running, known, written)
    except (TypeError, ValueError, RecursionError):
        return None


def without(document: Mapping[str, Any], parts: Collection[Part]) -> dict[str, Any]:
    """``document`` without these parts."""
    result = {key: value for key, value in document.items() if (key,) not in parts}
    nested = result.get(NESTED)
    if isinstance(nested, Mapping):
        result[NESTED] = {key: value for key, value in nested.items() if (NESTED, key) not in parts}
    return result


def canonical(document: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """The canonical form of a document without masked secrets; secrets in clear stay in clear.

    Parts identical (the same objects) to those of ``base``, which is canonical, are not read again. Raises
    ValidationFailed.
    """
    there = dict(parts_of(base)) if base.get("schema_version") == SCHEMA_VERSION else {}
    same = {part for part, value in parts_of(document) if part in there and there[part] is value}
    read = dump(parse_document(without(document, same)), "reveal")
    return merge_plain(read, base, same)


def merge_config(changed: RouterConfig, running: RouterConfig, parts: Collection[Part]) -> RouterConfig:
    """``changed`` with ``parts`` of ``running``; objects of running parts are shared, not copied."""
    update: dict[str, Any] = {part[0]: getattr(running, part[0]) for part in parts if len(part) == 1}
    nested = {part[1]: getattr(running.routing, part[1]) for part in parts if len(part) == 2}
    if nested:
        routing = changed.routing.model_copy(update=nested)
        # The same object tells a backend that nothing changed.
        update[NESTED] = running.routing if routing == running.routing else routing
    return changed.model_copy(update=update) if update else changed


def merge_plain(
    changed: Mapping[str, Any], running: Mapping[str, Any], parts: Collection[Part]
) -> dict[str, Any]:
    """The same for canonical documents, in the order of the models."""
    result: dict[str, Any] = {}
    for key in RouterConfig.model_fields:
        if key == NESTED:
            routing = {
                name: source[NESTED][name]
                for name in Routing.model_fields
                for source in [running if (NESTED, name) in parts else changed]
                if name in source.get(NESTED, {})
            }
            if routing:
                result[key] = routing
        else:
            source = running if (key,) in parts else changed
            if key in source:
                result[key] = source[key]
    return result
