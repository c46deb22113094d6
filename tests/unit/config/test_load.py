"""Reading documents: canonical form, strict types, secrets, migrations; and never another exception."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from appliance.config.dump import digest, dump, dumps
from appliance.config.load import parse_document
from appliance.config.migrate import MIGRATIONS, migrate
from appliance.config.secrets_in import masked, unmask
from appliance.errors import ValidationFailed

DOCUMENT: dict[str, Any] = {
    "schema_version": 1,
    "interfaces": {
        "lan0": {"type": "ethernet", "match": {"mac": "02:00:00:00:00:01"}, "addresses": ["10.0.0.1/24"]}
    },
    "routing": {
        "bgp": {"asn": 65000, "neighbors": {"10.0.0.2": {"remote_asn": 65001, "password": "secret1"}}}
    },
    "acls": {"a": {"rules": {"10": {"action": "deny"}, "9": {"action": "permit", "protocol": "tcp"}}}},
}


def test_the_canonical_form_reads_back_as_the_same_document() -> None:
    config = parse_document(DOCUMENT)
    canonical = dump(config, "reveal")
    assert parse_document(canonical) == config
    assert parse_document(dumps(config, "reveal")) == config
    assert dump(parse_document(canonical), "reveal") == canonical
    assert list(canonical["acls"]["a"]["rules"]) == ["9", "10"]
    assert "system" not in canonical


def test_what_is_written_another_way_has_the_same_canonical_form() -> None:
    other = json.loads(json.dumps(DOCUMENT))
    other["interfaces"]["lan0"] |= {"mtu": 1500, "match": {"mac": "02:00:00:00:00:01".upper()}}
    other["acls"]["a"]["rules"]["9"]["protocol"] = "6"
    other["system"] = {}
    assert digest(dump(parse_document(other), "reveal")) == digest(dump(parse_document(DOCUMENT), "reveal"))


def test_secrets_are_masked_revealed_or_sealed() -> None:
    config = parse_document(DOCUMENT)
    assert "secret1" not in dumps(config)
    assert "secret1" not in repr(config)
    sealed = dump(config, lambda clear: "$sealed$" + clear[::-1])
    assert sealed["routing"]["bgp"]["neighbors"]["10.0.0.2"]["password"] == "$sealed$1terces"
    assert parse_document(sealed, unseal=lambda text: text.removeprefix("$sealed$")[::-1]) == config


def test_a_masked_document_can_be_given_its_secrets_back() -> None:
    config = parse_document(DOCUMENT)
    hidden = dump(config)
    assert masked(hidden) == ["/routing/bgp/neighbors/10.0.0.2/password"]
    with pytest.raises(ValidationFailed, match="masked"):
        parse_document(hidden)
    assert parse_document(unmask(hidden, dump(config, "reveal"))) == config


def test_a_document_without_a_version_is_of_the_first() -> None:
    assert migrate({}) == {"schema_version": 1}


def test_an_old_document_takes_every_step_to_today(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a release with schema 3 would read what a router with schema 1 left behind."""
    monkeypatch.setattr("appliance.config.migrate.SCHEMA_VERSION", 3)
    monkeypatch.setitem(MIGRATIONS, 1, lambda old: {**old, "renamed": old["name"], "name": None})
    monkeypatch.setitem(MIGRATIONS, 2, lambda old: {key: value for key, value in old.items() if value})
    old = {"schema_version": 1, "name": "r1"}
    assert migrate(old) == {"schema_version": 3, "renamed": "r1"}
    assert old == {"schema_version": 1, "name": "r1"}
    monkeypatch.delitem(MIGRATIONS, 2)
    with pytest.raises(ValidationFailed, match="there is no schema version 2"):
        migrate(old)


@pytest.mark.parametrize("seed", range(20))
def test_damaged_text_is_a_document_or_refused(seed: int) -> None:
    rng = random.Random(seed)
    text = json.dumps(DOCUMENT)
    for _ in range(100):
        damaged = list(text)
        for _ in range(rng.randint(1, 4)):
            position = rng.randrange(len(damaged))
            damaged[position] = rng.choice(
                ["", '"', "{", "}", "[", "9", "\x00", "\ud800", "é", "null", ",", "-1e999"]
            )
        try:
            parse_document("".join(damaged))
        except ValidationFailed as refused:
            assert refused.problems


@pytest.mark.parametrize(
    "value",
    [None, True, 1.5, 10**30, -1, "", "x" * 5000, [], [[]], {}, {"": {}}, {"\n": 1}, b"x", object(), {1: 2}],
)
def test_any_value_anywhere_is_a_document_or_refused(value: Any) -> None:
    def replaced(node: Any) -> list[Any]:
        if isinstance(node, dict):
            return [
                value,
                {**node, "extra": value},
                *({**node, key: other} for key, item in node.items() for other in replaced(item)),
            ]
        if isinstance(node, list):
            return [value, *([other, *node[1:]] for other in replaced(node[0]))]
        return [value]

    for document in replaced(DOCUMENT):
        try:
            parse_document(document)
        except ValidationFailed as refused:
            assert refused.problems
