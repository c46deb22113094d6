"""From pydantic's errors to pointers into the document and sentences for a network engineer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from appliance.config.pointer import join
from appliance.config.shape import Fields, Items, Keyed, Leaf, Shape, Tagged, document
from appliance.errors import Problem, ValidationFailed

_PATTERNS = {
    r"^[a-z][a-z0-9._-]{0,14}$": "must be at most 15 of a-z 0-9 . _ -, and begin with one of a-z",
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$": (
        "must be at most 63 letters, digits, _ . -, and begin with a letter or digit"
    ),
    r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,47}$": (
        "must be at most 48 letters, digits, _ . -, and begin with a letter or digit"
    ),
    r"^[A-Za-z0-9 ,.:;()/_+=@#*-]{0,80}$": "must be up to 80 of A-Z a-z 0-9, spaces, ,.:;()/_+=@#*-",
    r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$": "must be a MAC address such as 52:54:00:00:00:01",
    r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$": "must be a PCI address such as 0000:0b:00.0",
    r"^[A-Za-z][A-Za-z0-9._-]{0,14}$": "must be at most 15 letters, digits, . _ -, and begin with a letter",
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
    # The checks below apply to requests, not to the document.
    r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*$": "must be one line without control characters",
    r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,150}$": "must be one line of 1 to 150 characters",
    r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$": (
        "must be at most 128 letters, digits and _ . : -, and begin with a letter or digit"
    ),
    r"^[^\x00-\x1f\x7f]*$": "must be text without control characters",
    r"^[a-z][a-z0-9._-]{0,31}$": "must be at most 32 of a-z 0-9 . _ -, and begin with one of a-z",
    r"^(running|candidate|0*[1-9][0-9]{0,8})$": "must be running, candidate or a revision's number",
    r"^[a-z0-9-]{1,20}$": "must be a protocol such as connected",
    r"^([0-9]{1,10}(:[0-9]{1,10}){1,2}|[a-zA-Z-]{3,20})$": (
        "must be a community such as 65001:100, 65001:1:2 or no-export"
    ),
    r"^(/([^/~]|~[01])*)*$": "must be a JSON pointer such as /interfaces/lan0",
    r"^[0-9a-f]{12}$": "must be an id of 12 of 0-9 a-f",
    r"^[a-z]{1,16}$": "must be the name of a part, such as agent",
    r"^[A-Za-z0-9_=;.-]{1,2000}$": "must be a place that an earlier answer named",
}
_OF_A_CHECK = re.compile(r"[\[(]")
"""In pydantic's names for the choices of a union, such as ``literal['all']``, and in no field's name."""


def problems_of(error: ValidationError, root: Shape | None = None) -> list[Problem]:
    """One problem for each place, in the order of the document's fields."""
    messages: dict[str, list[str]] = {}
    for detail in error.errors(include_url=False, include_input=False):
        pointer, message = _problem(detail, root or document())
        if message not in messages.setdefault(pointer, []):
            messages[pointer].append(message)
    return [Problem(pointer, "; or ".join(texts)) for pointer, texts in messages.items()]


def problems_of_request(details: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """One problem for each field of a request, from the entries of ``ValidationError.errors()``."""
    messages: dict[str, list[str]] = {}
    for detail in details:
        texts = messages.setdefault(join(field_at(detail["loc"])), [])
        if (message := message_of(detail)) not in texts:
            texts.append(message)
    return [Problem(pointer, "; or ".join(texts)) for pointer, texts in messages.items()]


def field_at(loc: Iterable[str | int]) -> list[str | int]:
    """The field of a request at the ``loc`` of an error, without the names of pydantic's own checks."""
    return list(takewhile(lambda token: not _OF_A_CHECK.search(str(token)), loc))


@contextmanager
def told_by_field() -> Iterator[None]:
    """Raises ValidationFailed, with pointers to a request's fields, for pydantic's ValidationError."""
    try:
        yield
    except ValidationError as error:
        raise ValidationFailed(problems_of_request(error.errors(include_url=False))) from None


def sentence_of(problems: Iterable[Problem], titles: Mapping[str, str] | None = None) -> str:
    """The problem of a request: ``Prefix: must be an address``. Fields without a title go by their name."""
    said = []
    for one in problems:
        name = one.pointer.removeprefix("/")
        title = (titles or {}).get(name, name)
        said.append(f"{title}: {one.message}" if title else one.message)
    return "; ".join(said)


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
    """The problem, from an entry of ``ValidationError.errors()``, in words that follow a field's name."""
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
        case "float_type" | "float_parsing":
            return "must be a number"
        case "greater_than_equal":
            return f"must be at least {_number(context['ge'])}"
        case "less_than_equal":
            return f"must be at most {_number(context['le'])}"
        case "greater_than":
            return f"must be more than {_number(context['gt'])}"
        case "less_than":
            return f"must be less than {_number(context['lt'])}"
        case "literal_error":
            expected = str(context["expected"]).replace(" or ", ", ")
            return f"must be one of {expected}" if "," in expected else f"must be {expected}"
        case "union_tag_invalid" | "union_tag_not_found":
            expected = context.get("expected_tags")
            return f"must be one of {expected}" if expected else "is required: it says which kind this is"
        case "string_pattern_mismatch":
            return _PATTERNS.get(context["pattern"], "does not have the form that is asked for")
        case "too_long":
            return f"must have at most {context['max_length']} entries"
        case "too_short":
            return f"must have at least {context['min_length']} entries"
        case "string_too_long":
            return f"must have at most {context['max_length']} characters"
        case "string_too_short":
            least = context["min_length"]
            return f"must have at least {least} characters" if least > 1 else "must not be empty"
        case "ip_v4_address":
            return "must be an IPv4 address"
        case "ip_v6_address":
            return "must be an IPv6 address"
        case "uuid_type" | "uuid_parsing":
            return "must be a UUID"
        case "datetime_type" | "datetime_parsing" | "datetime_from_date_parsing":
            return "must be a time such as 2026-01-31T12:00:00Z"
    return text[:1].lower() + text[1:]


def _number(limit: float) -> str:
    """A limit as people write it: seconds may have a fraction, but 3600.0 is written 3600."""
    return str(int(limit)) if float(limit).is_integer() else str(limit)
