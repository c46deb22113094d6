"""Messages of models follow a field's name, and say what has to be: the source is searched for the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[3]
MODELS = sorted(
    path
    for folder in ("appliance/src/appliance/features", "appliance/src/appliance/config", "frr/src/frr_config")
    for path in (SOURCES / folder).rglob("*.py")
)
_ASSERTS = re.compile(r"^is (?:an? (?!setting of )|any|one of)")
"""As *is a port such as 443*: beside the field it reads as if it were so. It has to be *must be a port*."""
_COUNTED = re.compile(r"\{[^{}]*\blen\([^{}]*\)[^{}]*\} [a-z]+s\b")
"""A number with a plural behind it, which also stands there for 1: ``counted`` writes both."""


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """Texts that are raised or made a problem, with their line; what is computed as ``{…}``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in ("ValueError", "Problem"):
                continue
            for argument in node.args:
                if isinstance(argument, (ast.Constant, ast.JoinedStr)):
                    yield node.lineno, ast.unparse(argument).strip("f'\"")


def test_models_are_searched() -> None:
    assert sum(1 for path in MODELS for _ in _texts(path)) > 150


@pytest.mark.parametrize("wrong", [_ASSERTS, _COUNTED], ids=["subject", "plural"])
def test_no_message_asserts_what_it_asks_for_and_none_says_1_rules(wrong: re.Pattern[str]) -> None:
    found = [
        f"{path.relative_to(SOURCES)}:{line}: {text}"
        for path in MODELS
        for line, text in _texts(path)
        if wrong.search(text)
    ]
    assert found == []
