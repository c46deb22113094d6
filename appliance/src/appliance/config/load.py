"""From text or plain data to a RouterConfig: any input gives a document or ValidationFailed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from appliance.config.document import RouterConfig
from appliance.config.migrate import migrate
from appliance.config.pointer import join
from appliance.config.problem_text import problems_of
from appliance.config.secrets_in import masked
from appliance.config.shape import Fields, Items, Keyed, Leaf, Shape, Tagged, document, has_maps
from appliance.errors import Problem, ValidationFailed

MAX_DEPTH = 32
"""How deep a document may nest; the schema itself needs ten levels."""
MAX_BYTES = 64 * 1024 * 1024
"""Size of the largest document text."""
MAX_NODES = 5_000_000
"""Values, keys and containers in the largest document."""
MAX_PROBLEMS = 100
"""How many problems are reported at once."""


_UNWANTED = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_PLAIN = re.compile(r"[ -~]*")
_SHORT = 100
_CONTROL = "has a control character, such as a line break or a tab"


class _DuplicateKey(ValueError):
    """A JSON object names a key twice."""


class _NotANumber(ValueError):
    """JSON has no NaN and no infinity (RFC 8259)."""


def parse_document(
    source: str | bytes | Mapping[str, Any], unseal: Callable[[str], str] | None = None
) -> RouterConfig:
    """The document in ``source``, JSON text or parsed JSON; older schema versions are migrated.

    ``unseal`` opens stored secrets. Raises ValidationFailed, and nothing else, for anything that is not a
    document; pointers lead into the migrated document.
    """
    data = parse_json(source) if isinstance(source, (str, bytes, bytearray)) else source
    if not isinstance(data, Mapping):
        raise ValidationFailed([Problem("", "is not a JSON object")])
    _check_plain(data)
    migrated = migrate(dict(data))
    try:
        config = RouterConfig.model_validate_json(
            json.dumps(migrated, allow_nan=False), strict=True, context={"unseal": unseal} if unseal else None
        )
    except ValidationError as error:
        raise ValidationFailed(problems_of(error)[:MAX_PROBLEMS]) from None
    except (ValueError, TypeError, RecursionError) as error:
        raise ValidationFailed(
            [Problem("", f"is not a configuration document: {str(error)[:200]}")]
        ) from None
    if hidden := masked(migrated):
        message = "is masked: give the secret itself, or leave the setting out"
        raise ValidationFailed([Problem(pointer, message) for pointer in hidden[:MAX_PROBLEMS]])
    if collisions := list(_collisions(migrated, document(), config, [])):
        raise ValidationFailed(collisions[:MAX_PROBLEMS])
    return config


def parse_json(text: str | bytes | bytearray, most_values: int = MAX_NODES) -> Any:
    """The parsed value of JSON text.

    Raises ValidationFailed for duplicate keys, NaN, huge numbers and bad encodings too, and before anything
    is parsed for text that may hold more than `most_values` values: each costs a hundred times its text in
    memory.
    """
    if len(text) > MAX_BYTES:
        raise ValidationFailed([Problem("", f"is larger than {MAX_BYTES // 1024 // 1024} MB")])
    if values_at_most(text) > most_values:
        raise ValidationFailed([Problem("", f"holds more than {most_values} values")])
    try:
        decoded = text.decode("utf-8") if not isinstance(text, str) else text
        return json.loads(decoded, object_pairs_hook=_object, parse_constant=_constant)
    except _DuplicateKey as error:
        raise ValidationFailed(
            [Problem("", f"names the key {str(error)!r:.80} twice in one object")]
        ) from None
    except _NotANumber as error:
        raise ValidationFailed([Problem("", f"has {error}, which is not a JSON number (RFC 8259)")]) from None
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg} at line {error.lineno} column {error.colno}"
        raise ValidationFailed([Problem("", message)]) from None
    except UnicodeDecodeError:
        raise ValidationFailed([Problem("", "is not UTF-8 text")]) from None
    except RecursionError:
        raise ValidationFailed([Problem("", f"nests deeper than {MAX_DEPTH} levels")]) from None
    except ValueError:
        raise ValidationFailed([Problem("", "holds a number that is too long")]) from None


def values_at_most(text: str | bytes | bytearray) -> int:
    """An upper bound for the number of values in JSON text: each follows a comma or opens its container.

    Characters within strings are counted too, so that nothing has to be parsed: megabytes take milliseconds.
    """
    if isinstance(text, str):
        return 1 + text.count(",") + text.count("[") + text.count("{")
    return 1 + text.count(b",") + text.count(b"[") + text.count(b"{")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKey(key)
            seen.add(key)
    return result


def _constant(name: str) -> Any:
    raise _NotANumber(name)


def _check_plain(data: Mapping[str, Any]) -> None:
    """Refuse what JSON cannot express or no setting can hold, before any closer check. Never recurses."""
    problems: list[Problem] = []
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(data, ())]
    nodes = 0
    good: set[Any] = set()
    """Texts already checked: a large document repeats few words many times."""
    while stack and len(problems) < MAX_PROBLEMS:
        node, tokens = stack.pop()
        if len(tokens) >= MAX_DEPTH:
            problems.append(Problem(join(tokens[:MAX_DEPTH]), f"nests deeper than {MAX_DEPTH} levels"))
            continue
        keyed = isinstance(node, Mapping)
        children: Iterable[tuple[Any, Any]] = node.items() if keyed else enumerate(node)
        for key, child in children:
            nodes += 1
            if keyed and not (type(key) is str and (key in good or _bad_value(key) is None)):
                problems.append(Problem(join(tokens), "has a key that is not plain text"))
                continue
            if keyed:
                good.add(key)
            if type(child) is str and (child in good or (len(child) < _SHORT and _PLAIN.fullmatch(child))):
                good.add(child)
            elif isinstance(child, (dict, list, tuple, Mapping)):
                stack.append((child, (*tokens, key)))
            elif (message := _bad_value(child)) is not None:
                problems.append(Problem(join([*tokens, key]), message))
        if nodes > MAX_NODES:
            raise ValidationFailed([Problem("", "is too large to be a configuration document")])
    if problems:
        raise ValidationFailed(problems)


def _bad_value(value: Any) -> str | None:
    if isinstance(value, str):
        if len(value) > 4096:
            return "is longer than 4096 characters"
        if (found := _UNWANTED.search(value)) is not None:
            surrogate = "\ud800" <= found[0] <= "\udfff"
            return "is not valid Unicode text" if surrogate else _CONTROL
        return None
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return "is a number too large for any setting" if abs(value) >= 1 << 64 else None
    if isinstance(value, float):
        return None if math.isfinite(value) else "is not a number (RFC 8259 has no NaN and no infinity)"
    return f"is a {type(value).__name__}, which JSON does not have"


def _collisions(node: Any, shape: Shape, parsed: Any, tokens: list[str | int]) -> Iterable[Problem]:
    """Keys that differ as text but are the same name, number or prefix: the later would win silently."""
    if isinstance(shape, Tagged):
        shape = shape.choices[node[shape.tag]]
    if isinstance(shape, Fields):
        for key, value in node.items():
            below = shape.fields[key]
            if not isinstance(below, Leaf) and value is not None:
                yield from _collisions(value, below, getattr(parsed, key), [*tokens, key])
    elif isinstance(shape, Items) and not isinstance(shape.item, Leaf):
        for index, value in enumerate(node):
            yield from _collisions(value, shape.item, parsed[index], [*tokens, index])
    elif isinstance(shape, Keyed):
        if len(parsed) != len(node):
            yield from _same_keys(node, shape, tokens)
        elif not isinstance(shape.value, Leaf) and has_maps(shape.value):
            for value, inside, key in zip(node.values(), parsed.values(), node, strict=True):
                yield from _collisions(value, shape.value, inside, [*tokens, key])


def _same_keys(node: Mapping[str, Any], shape: Keyed, tokens: list[str | int]) -> Iterable[Problem]:
    seen: dict[Any, str] = {}
    for key in node:
        canonical = shape.key.validate_strings(key)
        if canonical in seen:
            # Whichever came first, the non-canonical one is reported.
            odd, plain = sorted((key, seen[canonical]), key=lambda text: text == str(canonical))
            yield Problem(join([*tokens, odd]), f"is the same as {plain}, written another way")
        seen[canonical] = key
