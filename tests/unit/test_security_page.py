"""docs/security.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_TEXT = (_ROOT / "docs" / "security.md").read_text()
_FILE = re.compile(r"`(?:tests/)?([a-z_/]+/test_\w+\.py)(?:::(test_\w+))?`")
_FINDING = re.compile(r"^\| (\d+) \|.*$", re.MULTILINE)
_NAMED = sorted(set(_FILE.findall(_TEXT)))
_ALONE = sorted(set(re.findall(r"`(?:(test_\w+\.py)::)?(test_[a-z0-9_]+)`", _TEXT)))


@pytest.mark.parametrize(("file", "test"), _NAMED)
def test_a_test_that_is_named_with_its_file_exists(file: str, test: str) -> None:
    text = (_ROOT / "tests" / file).read_text()
    assert f"def {test or 'test_'}" in text


@pytest.mark.parametrize(("file", "test"), _ALONE)
def test_a_test_that_is_named_alone_exists(file: str, test: str) -> None:
    defined = re.compile(rf"^(?:async )?def {test}\(", re.MULTILINE)
    files = (_ROOT / "tests").rglob(file or "test_*.py")
    assert any(defined.search(path.read_text()) for path in files)


def test_each_of_the_twelve_findings_has_a_test() -> None:
    tested = {int(row[1]) for row in _FINDING.finditer(_TEXT) if _FILE.search(row[0])}
    assert tested == set(range(1, 13))
