"""The parts of a document that stand for themselves, so that what did not change is not read again.

A part is a top-level field, or a field of ``routing``. Models check nothing across parts (``check`` does that
on the whole document), so a part with the same text as the running one is the running one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from appliance.config.document import RouterConfig
from appliance.errors import Problem, ValidationFailed
from frr_config.models import Routing

Part = tuple[str, ...]
Texts = Mapping[Part, str]
"""JSON text of each part that a document has; equal texts are equal parts, ``1`` and ``true`` differ."""

_NESTED = "routing"
_ALWAYS = "schema_version"


def texts(document: Mapping[str, Any]) -> dict[Part, str] | None:
    """The parts of a plain document; None for what is no JSON and cannot be told apart like this."""
    try:
        return {part: json.dumps(value, sort_keys=True) for part, value in _parts(document)}
    except (TypeError, ValueError, RecursionError):
        return None


def fingerprint(document: Mapping[str, Any]) -> str:
    """Tells documents apart. Raises ValidationFailed for what nests too deep to be looked at."""
    try:
        return hashlib.sha256(json.dumps(document).encode()).hexdigest()
    except (TypeError, ValueError, RecursionError) as error:
        raise ValidationFailed([Problem("", f"is not a configuration document: {error}")]) from None


def without(document: Mapping[str, Any], parts: Collection[Part]) -> dict[str, Any]:
    """``document`` less these parts."""
    result = {key: value for key, value in document.items() if (key,) not in parts}
    nested = result.get(_NESTED)
    if isinstance(nested, Mapping):
        result[_NESTED] = {key: value for key, value in nested.items() if (_NESTED, key) not in parts}
    return result


def merge_config(changed: RouterConfig, running: RouterConfig, parts: Collection[Part]) -> RouterConfig:
    """``changed`` with ``parts`` of ``running``; objects of running parts are shared, not copied."""
    update: dict[str, Any] = {part[0]: getattr(running, part[0]) for part in parts if len(part) == 1}
    nested = {part[1]: getattr(running.routing, part[1]) for part in parts if len(part) == 2}
    if nested:
        routing = changed.routing.model_copy(update=nested)
        # The very same object tells a backend that nothing is new.
        update[_NESTED] = running.routing if routing == running.routing else routing
    return changed.model_copy(update=update) if update else changed


def merge_plain(
    changed: Mapping[str, Any], running: Mapping[str, Any], parts: Collection[Part]
) -> dict[str, Any]:
    """The same for canonical documents, in the order of the models."""
    result: dict[str, Any] = {}
    for key in RouterConfig.model_fields:
        if key == _NESTED:
            routing = {
                name: source[_NESTED][name]
                for name in Routing.model_fields
                for source in [running if (_NESTED, name) in parts else changed]
                if name in source.get(_NESTED, {})
            }
            if routing:
                result[key] = routing
        else:
            source = running if (key,) in parts else changed
            if key in source:
                result[key] = source[key]
    return result


def _parts(document: Mapping[str, Any]) -> Iterator[tuple[Part, Any]]:
    for key, value in document.items():
        if key == _NESTED and isinstance(value, Mapping):
            for name, part in value.items():
                yield (key, name), part
        elif key != _ALWAYS:
            yield (key,), value
