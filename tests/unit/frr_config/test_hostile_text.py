"""No text of a document can end the line, or the word, it is rendered into."""

from __future__ import annotations

import os
import random
import time
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from frr_config import V8_4, RenderError, Routing, parse, render
from frr_config.protocols.policy.model import AsPathRegex, Community, LargeCommunity
from frr_config.types import Address, Description, InterfaceName, Name, Prefix, Secret

_CASES = int(os.environ.get("FRR_FUZZ_CASES", "100000"))
_AT_MOST_S = float(os.environ.get("FRR_FUZZ_S", "20"))
_PIECES = (
    *"\n\r\0\t\x0b\x0c\x1b\x7f\x85\u2028\u2029 !#|?;&$`'\"\\/",
    "exit", "end", "no ", "configure terminal", "router bgp 1", "| include", "\nexit\n", "::/0", "10.0.0.0/8",
    "65001:1", "$sealed$", "a", "A", "0", "9", "-", "_", ".", "^", "(", ")", "*", "\u0660", "\u00e9",
    "\ufeff",
    "%",
)  # fmt: skip
_TYPES: dict[str, TypeAdapter[Any]] = {
    "name": TypeAdapter(Name),
    "interface": TypeAdapter(InterfaceName),
    "description": TypeAdapter(Description),
    "secret": TypeAdapter(Secret),
    "regex": TypeAdapter(AsPathRegex),
    "community": TypeAdapter(Community),
    "large": TypeAdapter(LargeCommunity),
    "address": TypeAdapter(Address),
    "prefix": TypeAdapter(Prefix),
}


def _accepted(kind: str, text: str) -> Any:
    try:
        return _TYPES[kind].validate_python(text)
    except ValidationError:
        return None


def _document(kind: str, text: str) -> dict[str, Any] | None:
    """A small document with the text where it does most harm."""
    neighbor: dict[str, Any] = {"remote_asn": 65001, "ipv4_unicast": {}}
    bgp: dict[str, Any] = {"asn": 65000, "neighbors": {"192.0.2.1": neighbor}}
    rule: dict[str, Any] = {"action": "permit"}
    policy: dict[str, Any] = {"route_maps": {"m": {"rules": {"10": rule}}}}
    match kind:
        case "name":
            policy["route_maps"] = {text: {"rules": {"10": rule | {"call": text}}}}
            policy["as_path_lists"] = {text: {"rules": {"5": {"action": "deny", "regex": "^1$"}}}}
            neighbor["ipv4_unicast"] = {"route_map_in": text}
        case "interface":
            rule["match"] = {"interface": text}
            neighbor["update_source"] = text
        case "description":
            rule["description"] = neighbor["description"] = text
        case "secret":
            neighbor["password"] = text
        case "regex":
            policy["as_path_lists"] = {"a": {"rules": {"5": {"action": "permit", "regex": text}}}}
        case "community":
            rule["set"] = {"communities": [text]}
        case "large":
            rule["set"] = {"large_communities": [text]}
        case "address":
            rule["set"] = {"source": text}
        case "prefix":
            return {"static": {text: {"blackhole": True}}}
    return {"bgp": bgp, "policy": policy}


def _words(text: str) -> int:
    return len(text.split(" "))


def test_hostile_text_stays_in_its_line() -> None:
    """Bounded by number and by time; what was tried is counted."""
    rng = random.Random(20261121)
    until, tried, rendered = time.monotonic() + _AT_MOST_S, 0, 0
    kinds = list(_TYPES)
    shapes: dict[str, list[tuple[int, ...]]] = {}
    while tried < _CASES and time.monotonic() < until:
        tried += 1
        kind = kinds[tried % len(kinds)]
        text = "".join(rng.choices(_PIECES, k=rng.randint(1, 6)))
        if _accepted(kind, text) is None:
            continue
        document = _document(kind, text)
        assert document is not None
        try:
            config = render(Routing.model_validate(document), V8_4)
        except (ValidationError, RenderError):
            continue
        rendered += 1
        assert parse(config.text(), V8_4) == config, text
        for line in config.holders:
            assert line.text.isascii() or kind == "description", text
            assert line.text.isprintable(), text
            assert line.text == line.text.strip() and line.text[0] not in "!#", text
        if kind not in ("description",):
            shape = tuple(sorted(_words(line.text) for line in config.holders))
            assert shape in shapes.setdefault(kind, [shape]) or kind == "prefix", text
    assert tried >= min(_CASES, 2000)
    assert rendered > tried / 200


@pytest.mark.parametrize("kind", list(_TYPES))
@pytest.mark.parametrize("ending", ["\n", "\r", "\0", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\nexit"])
def test_no_type_takes_a_line_end(kind: str, ending: str) -> None:
    good = {
        "name": "a", "interface": "a", "description": "a", "secret": "a", "regex": "1", "community": "1:1",
        "large": "1:1:1", "address": "192.0.2.1", "prefix": "192.0.2.0/24",
    }[kind]  # fmt: skip
    assert _accepted(kind, good) is not None
    for text in (good + ending, ending + good, good + ending + good):
        value = _accepted(kind, text)
        # Space at the ends of a description is cut off, and what is left is checked.
        assert value is None or (kind == "description" and value == text.strip() and value.isalnum())


def test_sealed_secret_is_not_rendered() -> None:
    document = {"bgp": {"asn": 1, "neighbors": {"192.0.2.1": {"remote_asn": 2, "password": "$sealed$abc"}}}}
    with pytest.raises(RenderError):
        render(Routing.model_validate(document), V8_4)
