"""JSON pointers (RFC 6901) into plain documents, merge patches (RFC 7396) and JSON patches (RFC 6902).

Documents are never changed in place: each function returns a new one that shares the unchanged parts.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import jsonpatch
import jsonpointer

from appliance.errors import NotFound, Problem, ValidationFailed

Json = Any
MAX_PATCH_OPERATIONS = 10_000
"""Operations one JSON patch may have."""


def split(pointer: str) -> list[str]:
    """Reference tokens of a pointer, unescaped. Raises ValidationFailed when it is not a JSON pointer."""
    if pointer == "":
        return []
    if not pointer.startswith("/"):
        raise ValidationFailed([Problem("", f"{pointer!r:.80} is not a JSON pointer: it must begin with /")])
    tokens = []
    for token in pointer[1:].split("/"):
        if "~" in token.replace("~0", "").replace("~1", ""):
            raise ValidationFailed(
                [Problem("", f"{pointer!r:.80} is not a JSON pointer: ~ must be followed by 0 or 1")]
            )
        tokens.append(token.replace("~1", "/").replace("~0", "~"))
    return tokens


def join(tokens: Sequence[str | int]) -> str:
    """The pointer made of these tokens."""
    return "".join("/" + escape(token) for token in tokens)


def escape(token: str | int) -> str:
    """One token as it is written in a pointer."""
    return str(token).replace("~", "~0").replace("/", "~1")


def _index(sequence: Sequence[Any], token: str, pointer: str) -> int:
    if token.isascii() and token.isdecimal() and (token == "0" or not token.startswith("0")):
        index = int(token) if len(token) < 10 else len(sequence)
        if index < len(sequence):
            return index
    raise NotFound(f"{pointer}: there is no element {token}")


def _child(node: Json, token: str, pointer: str) -> Json:
    if isinstance(node, Mapping):
        if token in node:
            return node[token]
    elif isinstance(node, (list, tuple)):
        return node[_index(node, token, pointer)]
    raise NotFound(f"{pointer}: there is nothing called {token}")


def resolve(document: Json, pointer: str) -> Json:
    """The value at ``pointer``. Raises NotFound."""
    node = document
    for token in split(pointer):
        node = _child(node, token, pointer)
    return node


def exists(document: Json, pointer: str) -> bool:
    """Whether there is a value at ``pointer``."""
    try:
        resolve(document, pointer)
    except NotFound:
        return False
    return True


def put(document: Json, pointer: str, value: Json) -> Json:
    """``document`` with ``value`` at ``pointer``; objects on the way are made, ``-`` appends to a list."""
    return _put(document, split(pointer), value, pointer)


def _put(node: Json, tokens: list[str], value: Json, pointer: str) -> Json:
    if not tokens:
        return value
    token, rest = tokens[0], tokens[1:]
    if isinstance(node, Mapping):
        return {**node, token: _put(node.get(token, {}), rest, value, pointer)}
    if isinstance(node, (list, tuple)):
        items = list(node)
        if token == "-":
            return [*items, _put({}, rest, value, pointer)]
        if token == str(len(items)):
            return [*items, _put({}, rest, value, pointer)]
        index = _index(items, token, pointer)
        items[index] = _put(items[index], rest, value, pointer)
        return items
    if node is None:
        return {token: _put({}, rest, value, pointer)}
    raise ValidationFailed([Problem(pointer, "leads through a value that has no parts")])


def delete(document: Json, pointer: str) -> Json:
    """``document`` without what is at ``pointer``. Raises NotFound."""
    tokens = split(pointer)
    if not tokens:
        return {}
    return _delete(document, tokens, pointer)


def _delete(node: Json, tokens: list[str], pointer: str) -> Json:
    token, rest = tokens[0], tokens[1:]
    child = _child(node, token, pointer)
    if isinstance(node, Mapping):
        if rest:
            return {**node, token: _delete(child, rest, pointer)}
        return {key: value for key, value in node.items() if key != token}
    items = list(node)
    index = _index(items, token, pointer)
    if rest:
        items[index] = _delete(child, rest, pointer)
    else:
        del items[index]
    return items


def merge_patch(document: Json, patch: Json) -> Json:
    """``document`` after an RFC 7396 merge patch: objects merge, null removes, anything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(document) if isinstance(document, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def json_patch(document: Json, operations: Json) -> Json:
    """``document`` after an RFC 6902 patch: all operations or none.

    Raises ValidationFailed naming the operation, as ``/<index>`` into the patch.
    """
    if not isinstance(operations, list):
        raise ValidationFailed([Problem("", "a JSON patch is a list of operations (RFC 6902)")])
    if len(operations) > MAX_PATCH_OPERATIONS:
        raise ValidationFailed([Problem("", f"a JSON patch has at most {MAX_PATCH_OPERATIONS} operations")])
    document = copy.deepcopy(document)
    for index, operation in enumerate(operations):
        try:
            document = jsonpatch.JsonPatch([operation]).apply(document, in_place=True)
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
            raise ValidationFailed([Problem(f"/{index}", _patch_message(error))]) from None
        except (TypeError, KeyError, AttributeError, ValueError, IndexError, RecursionError):
            raise ValidationFailed(
                [Problem(f"/{index}", "is not an operation of a JSON patch (RFC 6902)")]
            ) from None
    return document


def _patch_message(error: Exception) -> str:
    if isinstance(error, jsonpatch.JsonPatchTestFailed):
        return "the test does not hold"
    return str(error)[:200] or "is not an operation of a JSON patch (RFC 6902)"
