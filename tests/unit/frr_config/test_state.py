"""State read in pieces: streams of JSON, pages, and arguments that never reach a daemon."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from frr_config import FakeFrr
from frr_config.json_stream import members
from frr_config.page import page_of

TABLE = {
    "vrf": "x",
    "n": 17,
    "routes": {f"10.{n}.0.0/16": [{"text": 'a"b\\c\u00e9}{', "n": n}] for n in range(50)},
}


def _cut(text: str, rng: random.Random) -> Iterator[str]:
    while text:
        size = rng.randint(1, 9)
        yield text[:size]
        text = text[size:]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("indent", [None, 2])
def test_members_in_pieces(seed: int, indent: int | None) -> None:
    text = json.dumps(TABLE, indent=indent)
    assert dict(members(_cut(text, random.Random(seed)), ("routes",))) == TABLE["routes"]
    assert dict(members(_cut(text, random.Random(seed)))) == TABLE


@pytest.mark.parametrize(
    "text", ["", "% BGP instance not found\n", "{", '{"a"', '{"a": ', '{"a": {"b"', "[1, 2]", "{}"]
)
def test_what_is_no_object_has_no_members(text: str) -> None:
    assert list(members(iter([text]), ("a",))) == []


def test_page_reads_no_further_than_it_has_to() -> None:
    read = 0

    def items() -> Iterator[dict[str, Any]]:
        nonlocal read
        for at in range(1000):
            read += 1
            yield {"at": at}

    page = page_of(items(), 10, 5)
    assert [item["at"] for item in page.items] == [10, 11, 12, 13, 14]
    assert (page.more, page.total, read) == (True, None, 16)
    whole = page_of(iter([{"at": 1}]), 0, 5)
    assert (whole.more, whole.total) == (False, 1)
    assert page_of(iter([{"at": 1}]), 4, 5).to_json() == {
        "items": [], "offset": 4, "limit": 5, "more": False, "total": 1,
    }  # fmt: skip


def test_arguments_are_checked() -> None:
    fake = FakeFrr()
    broken = ("192.0.2.1 json", "", "x", "192.0.2.1\0end", "fe80::1%x\0configure terminal", "fe80::1%eth0")
    for text in broken:
        with pytest.raises(ValueError, match=r"."):
            fake.bgp_neighbor(text)
        with pytest.raises(ValueError, match=r"."):
            fake.bgp_routes(neighbor=text)
        with pytest.raises(ValueError, match=r"."):
            fake.rib_lookup(text)
    for text in ("192.0.2.0/24 json", "fe80::%x json/64", "192.0.2.0/33"):
        with pytest.raises(ValueError, match=r"."):
            fake.rib_lookup(text)
        with pytest.raises(ValueError, match=r"."):
            fake.rib(prefix=text)
    with pytest.raises(ValueError, match="family"):
        fake.rib_summary("vpn")  # type: ignore[arg-type]  # what a careless caller would do
