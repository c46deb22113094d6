"""Reading only the changed parts gives the same result as reading everything."""

from __future__ import annotations

import random
from typing import Any

import pytest
from cryptography.fernet import Fernet

from appliance.config import sections
from appliance.config.capabilities import Capabilities
from appliance.config.dump import digest, dump
from appliance.config.load import parse_document
from appliance.engine.documents import Documents, Prepared
from appliance.engine.store import EMPTY_DOCUMENT
from appliance.errors import ValidationFailed
from appliance.secrets import SecretBox
from tests.property.documents import random_document
from tests.property.fake_router import NICS

PAIRS = 60
DOCUMENTS = Documents(SecretBox(Fernet.generate_key()))
EMPTY = DOCUMENTS.read(EMPTY_DOCUMENT, digest(EMPTY_DOCUMENT))


def _mixed(rng: random.Random, first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Some parts of one document, the rest of another."""
    mixed: dict[str, Any] = {"schema_version": 1}
    for source, other in ((first, second), (second, first)):
        for key in source:
            if key == "routing":
                continue
            chosen = rng.choice([source, other])
            if key in chosen:
                mixed[key] = chosen[key]
    names = {*first.get("routing", {}), *second.get("routing", {})}
    chosen_from = {name: rng.choice([first, second]).get("routing", {}) for name in sorted(names)}
    mixed["routing"] = {name: source[name] for name, source in chosen_from.items() if name in source}
    return mixed


def _same(one: Prepared, other: Prepared) -> None:
    assert one.config == other.config
    assert dump(one.config, "reveal") == dump(other.config, "reveal")
    assert list(one.sealed) == list(other.sealed), "the order of the models"
    assert DOCUMENTS.read(one.sealed, "").config == one.config


@pytest.mark.parametrize("number", range(PAIRS))
def test_what_did_not_change_is_not_read_again_and_nothing_is_different(number: int) -> None:
    rng = random.Random(number)
    first, second = (dump(random_document(rng, Capabilities("vpp"), NICS), "reveal") for _ in range(2))
    base = DOCUMENTS.prepare(first, EMPTY)
    assert DOCUMENTS.prepare(base.sealed, base) == base
    for wanted in (second, _mixed(rng, base.sealed, second), {"schema_version": 1}):
        _same(DOCUMENTS.prepare(wanted, base), DOCUMENTS.prepare(wanted, EMPTY))
    again = DOCUMENTS.prepare({**base.sealed, "system": {"hostname": "other"}}, base)
    assert again.config.routing is base.config.routing


def test_a_value_that_only_looks_the_same_is_read() -> None:
    base = DOCUMENTS.prepare({"interfaces": {"lo1": {"type": "loopback", "enabled": False}}}, EMPTY)
    with pytest.raises(ValidationFailed):
        DOCUMENTS.prepare({"interfaces": {"lo1": {"type": "loopback", "enabled": 0}}}, base)
    with pytest.raises(ValidationFailed):
        DOCUMENTS.prepare({**base.sealed, "schema_version": 99}, base)
    with pytest.raises(ValidationFailed):
        DOCUMENTS.prepare({**base.sealed, "routing": None}, base)


def test_documents_are_told_apart() -> None:
    assert digest({"system": {"a": 1}}) != digest({"system": {"a": True}})
    assert digest({"routing": {"bgp": {}}}) != digest({"bgp": {}})
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    assert sections.texts(deep) is None
    with pytest.raises(ValidationFailed):
        DOCUMENTS.prepare(deep, EMPTY)


def test_the_digest_of_what_was_merged_is_that_of_the_whole() -> None:
    rng = random.Random(77)
    first, second = (dump(random_document(rng, Capabilities("vpp"), NICS), "reveal") for _ in range(2))
    base = DOCUMENTS.prepare(first, EMPTY)
    merged = DOCUMENTS.prepare(_mixed(rng, base.sealed, second), base)
    assert merged.digest == digest(merged.sealed)


def _acl(*rules: str, **more: Any) -> dict[str, Any]:
    return {"acls": {"a": {"rules": {rule: {"action": "permit"} for rule in rules}, **more}}}


def test_entries_that_did_not_change_are_the_running_ones() -> None:
    static = {"198.51.100.0/24": {"blackhole": True}}
    base = DOCUMENTS.prepare({**_acl("5", "10"), "routing": {"static": static}}, EMPTY)
    more = {**static, "192.0.2.0/24": {"blackhole": True}}
    wanted = {**_acl("5", "10", "7", description="new"), "routing": {"static": more}}
    got = DOCUMENTS.prepare(wanted, base)
    _same(got, DOCUMENTS.prepare(wanted, EMPTY))
    assert list(got.sealed["acls"]["a"]["rules"]) == ["5", "7", "10"]
    assert got.config.acls["a"].rules[5] is base.config.acls["a"].rules[5]
    prefix = "198.51.100.0/24"
    assert got.config.routing.static[prefix] is base.config.routing.static[prefix]


def test_a_rule_that_is_replaced_stays_in_its_place() -> None:
    base = DOCUMENTS.prepare(_acl("5", "10", "100"), EMPTY)
    rules = {**base.sealed["acls"]["a"]["rules"], "10": {"action": "deny"}}
    wanted = {**base.sealed, "acls": {"a": {"rules": dict(reversed(rules.items()))}}}
    got = DOCUMENTS.prepare(wanted, base)
    _same(got, DOCUMENTS.prepare(wanted, EMPTY))
    assert list(got.sealed["acls"]["a"]["rules"]) == ["5", "10", "100"]
    assert got.digest == digest(got.sealed)
    with pytest.raises(ValidationFailed):
        DOCUMENTS.prepare({"acls": {"a": {"rules": {**rules, "0100": {"action": "deny"}}}}}, base)


def test_an_entry_written_in_two_ways_is_refused_though_one_of_them_runs() -> None:
    base = DOCUMENTS.prepare({**_acl("5")}, EMPTY)
    with pytest.raises(ValidationFailed):
        DOCUMENTS.prepare(_acl("5", "05"), base)
    base = DOCUMENTS.prepare({"routing": {"static": {"192.0.2.0/24": {"blackhole": True}}}}, EMPTY)
    twice = {prefix: {"blackhole": True} for prefix in ("192.0.2.0/24", "192.0.2.0/255.255.255.0")}
    with pytest.raises(ValidationFailed):
        DOCUMENTS.prepare({"routing": {"static": twice}}, base)


def test_an_entry_that_only_looks_the_same_is_read() -> None:
    base = DOCUMENTS.prepare({"routing": {"static": {"192.0.2.0/24": {"blackhole": True}}}}, EMPTY)
    with pytest.raises(ValidationFailed):
        DOCUMENTS.prepare({"routing": {"static": {"192.0.2.0/24": {"blackhole": 1}}}}, base)
    good: dict[str, Any] = {"192.0.2.0/24": {"blackhole": True}}
    unreadable: list[Any] = [[], None, {"192.0.2.0/24": None}, {**good, "x": {}}]
    for broken in unreadable:
        with pytest.raises(ValidationFailed):
            DOCUMENTS.prepare({"routing": {"static": broken}}, base)


def test_a_list_that_lost_all_its_rules_is_still_there() -> None:
    base = DOCUMENTS.prepare(_acl("5", "10"), EMPTY)
    emptied: list[dict[str, Any]] = [{"acls": {"a": {}}}, {"acls": {"a": {"rules": {}}}}, {"acls": {}}]
    for wanted in (*emptied, _acl("10"), _acl("7")):
        _same(DOCUMENTS.prepare(wanted, base), DOCUMENTS.prepare(wanted, EMPTY))


@pytest.mark.parametrize("number", range(PAIRS // 3))
def test_the_canonical_form_by_parts_is_that_of_the_whole(number: int) -> None:
    rng = random.Random(number)
    base, other = (dump(random_document(rng, Capabilities("vpp"), NICS), "reveal") for _ in range(2))
    for wanted in (base, other, _mixed(rng, base, other), {**base, "system": {"hostname": "other"}}):
        by_parts, whole = sections.canonical(wanted, base), dump(parse_document(wanted), "reveal")
        assert by_parts == whole and list(by_parts) == list(whole)
        assert digest(by_parts) == digest(whole)
    for broken in ({**base, "schema_version": 99}, {**base, "routing": None}, {**base, "nothing": {}}):
        with pytest.raises(ValidationFailed):
            sections.canonical(broken, base)
    # What an earlier schema version holds is read, shared or not.
    assert sections.canonical(base, {**base, "schema_version": 0}) == sections.canonical(base, {})
