"""``make test FEATURE=bfd``: the tests that concern one feature.

These are the tests whose file, function or parameters name it, in the words of ``feature_files.WORDS``, and
the tests that cover every feature: the house rules, the linters and the random documents.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.feature_files import WORDS

ALWAYS = (
    "unit/test_house_rules.py",
    "unit/test_feature_walls.py",
    "unit/test_added_services_and_protocols.py",
    "unit/test_lint.py",
    "property/test_documents.py",
    "property/test_documents_on_fake_vpp.py",
)
"""Paths under tests/ whose tests cover every feature."""

_TESTS = Path(__file__).resolve().parent


def add_option(parser: pytest.Parser) -> None:
    """``--feature NAME``."""
    names = ", ".join(sorted(WORDS))
    parser.addoption("--feature", default="", help=f"only the tests that concern this feature: {names}")


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep in ``items`` the tests of the requested feature; all of them without a request."""
    feature = str(config.getoption("--feature"))
    if not feature:
        return
    if feature not in WORDS:
        raise pytest.UsageError(
            f"FEATURE: there is no feature {feature!r}; there are {', '.join(sorted(WORDS))}"
        )
    kept = list(concerning(feature, items))
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def concerning(feature: str, items: Iterable[pytest.Item]) -> Iterable[pytest.Item]:
    """The items that concern the feature, in their order."""
    return [item for item in items if _covers_all(item) or _names(item, feature)]


def features_of(item: pytest.Item) -> list[str]:
    """The features that the test names."""
    return [feature for feature in WORDS if _names(item, feature)]


def _covers_all(item: pytest.Item) -> bool:
    path = item.path
    return path.is_relative_to(_TESTS) and path.relative_to(_TESTS).as_posix() in ALWAYS


def _names(item: pytest.Item, feature: str) -> bool:
    word = re.compile(WORDS[feature])
    if word.search(item.path.stem) or word.search(item.name):
        return True
    function = getattr(item, "function", None)
    return function is not None and _source_names(function, word)


@cache
def _source_names(function: Callable[..., object], word: re.Pattern[str]) -> bool:
    return word.search(inspect.getsource(function)) is not None
