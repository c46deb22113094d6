"""Problems are described in words."""

from collections.abc import Iterator
from typing import Any

import pytest

from appliance.config.load import parse_document
from appliance.config.problem_text import _PATTERNS
from appliance.config.schema import json_schema
from appliance.errors import ValidationFailed


def _patterns(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node["pattern"]
        yield from node.get("patternProperties", {})
        for below in node.values():
            yield from _patterns(below)
    elif isinstance(node, list):
        for below in node:
            yield from _patterns(below)


def test_every_form_a_text_must_have_is_told_in_words() -> None:
    """A regular expression is not shown as a message."""
    assert set(_patterns(json_schema())) - _PATTERNS.keys() == set()


@pytest.mark.parametrize(("field", "value"), [("hostname", "-x"), ("timezone", "1/2"), ("domain", "a..b")])
def test_a_refusal_names_no_pattern(field: str, value: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        parse_document({"system": {field: value}})
    assert "[A-Za-z" not in str(refused.value)
