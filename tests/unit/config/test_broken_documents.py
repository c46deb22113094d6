"""Broken documents picked by hand: each is refused, and the place that is wrong is named."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import require_valid
from appliance.errors import ValidationFailed
from tests import broken_documents
from tests.broken_documents import BASES, CASES, difference, laid_out, merged, shortened


def _problems(source: Any) -> set[tuple[str, str]]:
    """Pointer and message of each problem."""
    try:
        require_valid(parse_document(source), Capabilities("vpp"))
    except ValidationFailed as refused:
        return {(problem.pointer, problem.message) for problem in refused.problems}
    return set()


@cache
def _problems_of_base(base: str) -> set[tuple[str, str]]:
    return _problems(base)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_it_is_refused_where_it_is_wrong(path: Path) -> None:
    problems = _problems(broken_documents.read_source(path))
    by_the_patch = problems - _problems_of_base(json.dumps(broken_documents.read_base(path)))
    assert broken_documents.read_pointer(path) in {pointer for pointer, _ in by_the_patch}
    for pointer, message in problems:
        assert message
        assert message.isprintable()
        assert "validator" not in pointer
        assert "function-" not in pointer


def test_there_are_a_hundred() -> None:
    assert len(CASES) >= 100


def test_a_merge_patch_is_that_of_the_rfc() -> None:
    # The examples of RFC 7396, appendix A, of objects.
    assert merged({"a": "b"}, {"a": "c"}) == {"a": "c"}
    assert merged({"a": "b", "b": "c"}, {"a": None}) == {"b": "c"}
    assert merged({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}) == {"a": {"b": "d"}}
    assert merged({"a": "c"}, {"a": ["b"]}) == {"a": ["b"]}
    assert merged({}, {"a": {"bb": {"ccc": None}}}) == {"a": {"bb": {}}}
    assert merged({"a": "foo"}, None) is None


@pytest.mark.parametrize("base", BASES, ids=lambda path: path.stem)
def test_a_whole_document_is_shortened_to_the_same(base: Path, tmp_path: Path) -> None:
    whole = json.loads(base.read_text())
    del whole["interfaces"]["wan0" if "wan0" in whole["interfaces"] else "w"]
    whole["interfaces"]["loop9"] = {"type": "loopback", "mtu": True}
    case = shortened({"document": whole, "pointer": "/interfaces/loop9/mtu"})
    assert set(case) - {"base"} == {"patch", "pointer"}
    file = tmp_path / "case.json"
    file.write_text(laid_out(case))
    assert broken_documents.read_source(file) == whole
    assert shortened(json.loads(file.read_text())) == case


def test_a_null_stays_a_whole_document() -> None:
    case = {"document": {"interfaces": {"lan0": None}}, "pointer": "/interfaces/lan0"}
    assert shortened(case) == case


def test_true_is_not_one() -> None:
    assert difference({"mtu": 1}, {"mtu": True}) == {"mtu": True}
    assert difference({"mtu": 1}, {"mtu": 1}) == {}
