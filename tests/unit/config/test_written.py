"""Texts of a document's parts: a known part is not written again."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config import written as written_module
from appliance.config.dump import part_texts
from appliance.config.written import Written

DOCUMENT: dict[str, Any] = {
    "acls": {"a": {"rules": {"10": {"action": "permit"}}}},
    "routing": {"static": {"192.0.2.0/24": {"blackhole": True}}},
}


@pytest.fixture
def wrote(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The parts that were written as JSON."""
    found: list[Any] = []
    text = written_module.json_text

    def count(value: Any) -> str:
        found.append(value)
        return text(value)

    monkeypatch.setattr(written_module, "json_text", count)
    return found


def _again(value: Any) -> Any:
    """Equal, and no object of it is the same."""
    return {name: _again(inner) for name, inner in value.items()} if isinstance(value, dict) else value


def test_a_part_that_comes_again_alike_is_not_written_again(wrote: list[Any]) -> None:
    written = Written()
    first = part_texts(DOCUMENT, written=written)
    assert len(wrote) == 2
    changed = _again(DOCUMENT)
    changed["acls"]["a"]["rules"]["20"] = {"action": "deny"}
    assert part_texts(_again(DOCUMENT), written=written) == first
    assert len(wrote) == 2
    assert part_texts(changed, written=written) == part_texts(changed)
    assert wrote[2] == changed["acls"]


@pytest.mark.parametrize("value", [1, 1.0, "1", "true", None, [True], {"True": True}, 0, -0.0])
def test_what_only_looks_alike_is_written(value: Any) -> None:
    written = Written()
    for one in (True, value, 0.0, False, value, (1,), [1]):
        document = {"system": {"a": one}}
        assert part_texts(document, written=written) == part_texts(document)


def test_keys_in_another_order_have_the_same_text() -> None:
    written = Written()
    first = part_texts({"system": {"a": 1, "b": 2}}, written=written)
    assert part_texts({"system": {"b": 2, "a": 1}}, written=written) == first


def test_no_more_than_one_document_is_remembered(wrote: list[Any]) -> None:
    written = Written()
    for number in range(10):
        part_texts({f"part{number}": {}}, written=written)
    assert list(written._last) == [("part9",)]
    part_texts({"part0": {}}, written=written)
    assert len(wrote) == 11


def test_what_is_no_json_stays_an_error() -> None:
    written = Written()
    for value in (b"bytes", {1, 2}, object()):
        for _ in range(2):
            with pytest.raises(TypeError):
                part_texts({"system": value}, written=written)
