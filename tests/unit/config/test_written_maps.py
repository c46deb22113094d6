"""Texts of large maps: parts that documents share are not written again, and the text is the same."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from appliance.config import written as written_module
from appliance.config.dump import part_texts
from appliance.config.written import Written

_PART = ("acls",)


def _rule(rng: random.Random) -> dict[str, Any]:
    rule: dict[str, Any] = {"action": rng.choice(["permit", "deny"]), "protocol": "tcp"}
    if rng.random() < 0.3:
        rule["tcp_flags"] = {"set": ["syn"], "unset": ["ack"]}
    if rng.random() < 0.3:
        rule["description"] = rng.choice(['"}, {"', "é ☃", "\x1fbetween two entries\x1f", "", "a\nb", '"'])
    return rule


def _lists(rng: random.Random, count: int) -> dict[str, Any]:
    rules = {str(number): _rule(rng) for number in range(count)}
    return {"b": {"rules": rules, "description": "☃"}, "a": {"rules": {"5": _rule(rng)}}, "c": {}}


def _edited(rng: random.Random, lists: dict[str, Any]) -> dict[str, Any]:
    """With something changed; everything else is shared."""
    rules = dict(lists["b"]["rules"])
    for _ in range(rng.randrange(3)):
        rules[str(rng.randrange(len(rules) + 9))] = _rule(rng)
    if rng.random() < 0.4:
        del rules[rng.choice(list(rules))]
    if rng.random() < 0.2:
        # Equal, another object, or only nearly equal.
        key = rng.choice(list(rules))
        rules[key] = rng.choice(
            [copy.deepcopy(rules[key]), {**rules[key], "icmp_type": rng.choice([1, True])}]
        )
    items = list(rules.items())
    if rng.random() < 0.2:
        rng.shuffle(items)
    return {**lists, "b": {**lists["b"], "rules": dict(items)}}


@pytest.mark.parametrize("seed", range(30))
def test_the_text_is_always_that_of_the_whole(seed: int) -> None:
    rng = random.Random(seed)
    written = Written()
    lists = _lists(rng, rng.choice([60, 70, 300]))
    for _ in range(20):
        lists = rng.choice([lists, _edited(rng, lists), copy.deepcopy(lists)])
        assert written.text(_PART, lists) == json.dumps(lists, sort_keys=True)


def test_one_entry_that_changed_is_all_that_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    written, lists = Written(), _lists(rng, 200)
    written.text(_PART, lists)
    wrote: list[Any] = []
    text = written_module.json_text

    def count(value: Any) -> str:
        wrote.append(value)
        return text(value)

    monkeypatch.setattr(written_module, "json_text", count)
    rules = {**lists["b"]["rules"], "7": {"action": "deny"}, "999": {"action": "permit"}}
    changed = {**lists, "b": {**lists["b"], "rules": rules}}
    assert written.text(_PART, changed) == json.dumps(changed, sort_keys=True)
    assert [len(one) for one in wrote if isinstance(one, list)] == [3], "two entries and the mark between"
    assert rules not in wrote and changed["b"] not in wrote


def test_entries_of_one_document_are_remembered() -> None:
    rng = random.Random(2)
    written = Written()
    for _ in range(5):
        written.text(_PART, _lists(rng, 100))
    ((path, entries),) = written._entries[_PART].items()
    assert (path, len(entries)) == (("b", "rules"), 100)
    part_texts({"system": {}}, written=written)
    assert list(written._entries) == [("system",)]


@pytest.mark.parametrize("key", [1, True, None, 1.5, ("a",)])
def test_keys_that_are_no_text_are_written_as_json_writes_them(key: Any) -> None:
    value = {key: {"action": "deny"}}
    many: dict[str, Any] = {str(number): {} for number in range(100)}
    for one in (value, {"a": value}, {"a": {"rules": value}}, {"a": {"rules": {**many, key: {}}}}):
        try:
            text = json.dumps(one, sort_keys=True)
        except TypeError:
            with pytest.raises(TypeError):
                Written().text(_PART, one)
        else:
            assert Written().text(_PART, one) == text
