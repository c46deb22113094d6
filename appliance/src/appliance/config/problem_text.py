"""From pydantic's errors to pointers into the document and sentences for a network engineer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from appliance.config.pointer import join
from appliance.config.shape import Fields, Items, Keyed, Leaf, Shape, Tagged, document
from appliance.errors import Problem

_PATTERNS = {
    r"^[a-z][a-z0-9._-]{0,14}$": "must be a small letter, then at most 14 of a-z 0-9 . _ -",
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$": "must be a letter or digit, then at most 62 letters, digits, _ . -",
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$": "must be a letter or digit, then at most 47 letters, digits, _ . -",
    r"^[A-Za-z0-9 ,.:;()/_+=@#*-]{0,80}$": "must be up to 80 letters, digits, spaces, ,.:;()/_+=@#*-",
    r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$": "must be a MAC address such as 52:54:00:00:00:01",
    r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$": "must be a PCI address such as 0000:0b:00.0",
    r"^[A-Za-z][A-Za-z0-9._-]{0,14}$": "must be a letter, then at most 14 letters, digits, . _ -",
    r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$": (
        "must be at most 63 letters, digits and -, with a letter or digit at both ends"
    ),
    r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$": (
        "must be a domain name such as example.net"
    ),
    r"^[ -~]*$": "must be letters, digits and signs of ASCII",
    r"^[A-Za-z]+(/[A-Za-z0-9_+-]+){0,2}$": "must be a time zone such as Europe/Oslo",
    r"^[0-9_^$.*+?()\[\]|-]{1,120}$": (
        "must be a regular expression of at most 120 of 0-9 _ ^ $ . * + ? ( ) [ ] | -, such as _65001$"
    ),
}


def problems_of(error: ValidationError, root: Shape | None = None) -> list[Problem]:
    """One problem for each place, in the order of the document's fields."""
    messages: dict[str, list[str]] = {}
    for detail in error.errors(include_url=False, include_input=False):
        pointer, message = _problem(detail, root or document())
        if message not in messages.setdefault(pointer, []):
            messages[pointer].append(message)
    return [Problem(pointer, "; or ".join(texts)) for pointer, texts in messages.items()]


def _problem(detail: ErrorDetails, root: Shape) -> tuple[str, str]:
    tokens, node = _locate(detail["loc"], root)
    kind, context = detail["type"], detail.get("ctx", {})
    message = message_of(detail)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        tokens.append(str(context.get("discriminator", "'type'")).strip("'"))
    elif kind == "value_error" and isinstance(node, Fields):
        message = _refine(tokens, message, node)
    return join(tokens), message


def _refine(tokens: list[str | int], message: str, node: Fields) -> str:
    """A model's own check that begins with ``field:`` or ``rule N:`` is about that part."""
    if match := re.match(r"rule (\d+): (.+)", message):
        tokens += ["rules", match[1]]
        return match[2]
    if (match := re.match(r"([a-z0-9_]+): (.+)", message)) and match[1] in node.fields:
        tokens.append(match[1])
        return match[2]
    return message


def _locate(loc: tuple[int | str, ...], root: Shape) -> tuple[list[str | int], Shape]:
    """Tokens of the document's own path: the union tags and validator names in ``loc`` are not part of it."""
    tokens: list[str | int] = []
    node = root
    parts: Iterator[int | str] = iter(loc)
    for part in parts:
        if isinstance(node, Tagged):
            node = node.choices.get(str(part), Leaf())
            continue
        if isinstance(node, Leaf) or part == "[key]":
            break
        tokens.append(part)
        if isinstance(node, Fields):
            node = node.fields.get(str(part), Leaf())
        elif isinstance(node, Keyed):
            node = node.value
        elif isinstance(node, Items):
            node = node.item
    return tokens, node


def message_of(detail: Mapping[str, Any]) -> str:
    """What is wrong, from an entry of ``ValidationError.errors()``, in words that follow a field's name."""
    text, context = str(detail["msg"]), detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return "is required"
        case "extra_forbidden":
            return "there is no such setting here"
        case "value_error" | "assertion_error":
            return text.removeprefix("Value error, ").removeprefix("Assertion failed, ")
        case "int_type" | "int_parsing" | "int_from_float" | "int_parsing_size":
            return "must be a whole number"
        case "bool_type" | "bool_parsing":
            return "must be true or false"
        case "string_type":
            return "must be text"
        case "list_type" | "tuple_type":
            return "must be a list"
        case "dict_type" | "model_type" | "model_attributes_type":
            return "must be an object"
        case "greater_than_equal":
            return f"must be at least {context['ge']}"
        case "less_than_equal":
            return f"must be at most {context['le']}"
        case "literal_error":
            return f"must be one of {context['expected']}".replace(" or ", ", ")
        case "union_tag_invalid" | "union_tag_not_found":
            expected = context.get("expected_tags")
            return f"must be one of {expected}" if expected else "is required: it says which kind this is"
        case "string_pattern_mismatch":
            return _PATTERNS.get(context["pattern"], f"must have the form {context['pattern']}")
        case "too_long":
            return f"must have at most {context['max_length']} entries"
        case "too_short":
            return f"must have at least {context['min_length']} entries"
        case "string_too_long":
            return f"must have at most {context['max_length']} characters"
        case "ip_v4_address":
            return "must be an IPv4 address"
    return text[:1].lower() + text[1:]
