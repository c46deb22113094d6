"""Reading request bodies: JSON of the right media type, or a problem."""

from __future__ import annotations

from typing import Any, cast

from django.http import HttpRequest
from ninja.parser import Parser

from appliance.config.load import parse_json, values_at_most
from appliance.config.pointer import join
from appliance.errors import Problem, ValidationFailed
from webui.changes.documents import check_depth
from webui.errors import RequestProblem


def media_type(request: HttpRequest) -> str:
    """The media type of the body, without its parameters, in lower case."""
    return (request.content_type or "").lower()


DOCUMENT_VALUES = 1_000_000
"""Most values in a document or a part of one: 100,000 routes have some 600,000."""
FORM_VALUES = 10_000
"""Most values in the body of any other operation."""
FORM_BYTES = 256 * 1024


def read_json(request: HttpRequest, *accepted: str, most_values: int = DOCUMENT_VALUES) -> Any:
    """The body as JSON. Raises RequestProblem: 415 for another media type, 400 for invalid JSON, 413 for
    more than `most_values` values, which is checked before the body is parsed.
    """
    if media_type(request) not in accepted:
        headers = {"Accept-Patch": ", ".join(accepted)} if request.method == "PATCH" else {}
        raise RequestProblem(415, f"The body has to be {' or '.join(accepted)}.", headers)
    if values_at_most(request.body) > most_values:
        raise RequestProblem(413, f"The body holds more than {most_values} values.")
    try:
        value = parse_json(request.body)
        check_depth(value)
    except ValidationFailed as error:
        raise RequestProblem(400, f"The body {error.problems[0].message}.", pointer="") from None
    return value


class JsonParser(Parser):
    """Ninja's entry to `read_json`, for the operations whose bodies are its schemas."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        """The body; text in it holds no NUL and no lone surrogate, which no database stores."""
        if len(request.body) > FORM_BYTES:
            raise RequestProblem(413, f"The body is larger than {FORM_BYTES // 1024} KB.")
        value = read_json(request, "application/json", most_values=FORM_VALUES)
        if problems := _unstorable(value):
            raise ValidationFailed(problems)
        return cast("dict[str, Any]", value)


def _unstorable(value: Any) -> list[Problem]:
    problems: list[Problem] = []
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(value, ())]
    while stack:
        node, tokens = stack.pop()
        if isinstance(node, dict):
            stack += [(child, (*tokens, key)) for key, child in node.items() if not _bad(key)]
            if any(_bad(key) for key in node):
                problems.append(Problem(join(tokens), "has a key that is not plain text"))
        elif isinstance(node, list):
            stack += [(child, (*tokens, index)) for index, child in enumerate(node)]
        elif isinstance(node, str) and _bad(node):
            problems.append(Problem(join(tokens), "is not plain text"))
        elif isinstance(node, int) and abs(node) >= 1 << 63:
            problems.append(Problem(join(tokens), "is a number too large for any setting"))
    return problems[:100]


def _bad(text: str) -> bool:
    return "\x00" in text or any(0xD800 <= ord(character) < 0xE000 for character in text)
