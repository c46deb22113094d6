"""Secrets are found through the models: masked, kept, replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.config.marks import Marks, marks_of
from appliance.config.secrets_in import mask, masked, replaced, secrets_of, unmask
from appliance.config.shape import Fields, Leaf, Tagged
from frr_config.types import MASK, Model

ROOT = Path(__file__).parents[3]
DOCUMENT: dict[str, Any] = {
    "routing": {
        "bgp": {
            "asn": 65001,
            "neighbors": {
                "192.0.2.1": {"password": "one", "remote_asn": 65002},
                "2001:db8::1": {"remote_asn": 65002},
            },
            "peer_groups": {"a/b": {"password": "two"}},
        },
        "ospf": {"interfaces": {"lan0": {"area": "0", "authentication": {"type": "md5", "key": "three"}}}},
    },
    "acls": {"edge": {"rules": {"10": {"action": "deny"}}}},
}
PLACES = {
    "/routing/bgp/neighbors/192.0.2.1/password": "one",
    "/routing/bgp/peer_groups/a~1b/password": "two",
    "/routing/ospf/interfaces/lan0/authentication/key": "three",
}


def test_each_place_is_found_and_replaced_and_the_rest_is_shared() -> None:
    assert secrets_of(DOCUMENT) == PLACES
    other = replaced(DOCUMENT, lambda pointer, text: f"{pointer}={text}")
    assert secrets_of(other) == {pointer: f"{pointer}={text}" for pointer, text in PLACES.items()}
    assert other["acls"] is DOCUMENT["acls"]
    assert replaced(DOCUMENT, lambda _pointer, text: text) is DOCUMENT
    broken = {"acls": [1], "routing": {"bgp": {"neighbors": ["one"]}, "ospf": None}}
    assert replaced(broken, lambda _pointer, text: "") == broken


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        ("one", "/routing/bgp/neighbors/192.0.2.1/password", MASK),
        (None, "/routing/bgp/neighbors/192.0.2.1/password", None),
        (
            {"password": "x", "passive": True},
            "/routing/bgp/peer_groups/new",
            {"password": MASK, "passive": True},
        ),
        ({"password": "x"}, "/acls/edge", {"password": "x"}),
        ("text", "/nowhere/at/all", "text"),
    ],
)
def test_a_part_of_a_document_is_masked_by_where_it_stands(value: Any, path: str, expected: Any) -> None:
    assert mask(value, path) == expected


def test_a_masked_document_takes_its_secrets_back_and_tells_what_stays_masked() -> None:
    hidden = mask(DOCUMENT)
    assert masked(hidden) == list(secrets_of(DOCUMENT))
    assert unmask(hidden, DOCUMENT) == DOCUMENT
    assert masked(unmask(hidden, {})) == masked(hidden)


def test_kinds_that_mark_one_field_differently_are_refused() -> None:
    def kind(secret: bool) -> Fields:
        return Fields(Model, {"key": Leaf(secret=secret)})

    def marks(*kinds: Fields) -> Marks[int]:
        tagged = Tagged("type", {str(number): one for number, one in enumerate(kinds)})
        return marks_of(tagged, lambda leaf: int(leaf.secret) + 1, lambda _: None)

    assert marks(kind(True), kind(True)).fields["key"].here == 2
    with pytest.raises(ValueError, match="mark the same field differently"):
        marks(kind(True), kind(False))


def test_nobody_else_walks_the_models_or_follows_the_schemas_references() -> None:
    """One walk over the models (shape.py), one over the JSON schema (schema.py), one to marked places."""
    own = {"shape.py": "get_args(", "schema.py": '"#/$defs/"', "marks.py": "marks.here"}
    for folder in ("appliance/src/appliance", "webui/src/webui"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text()
            for name, sign in own.items():
                if path != ROOT / "appliance/src/appliance/config" / name:
                    assert sign not in text, f"{path}: {sign} is {name}'s"
