"""A long list in parts: every item is on exactly one of them, and addresses keep the rest of the question."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import RequestFactory

from appliance.config.diff import diff_documents
from webui.ui.diff_page import DiffPage, diff_page
from webui.ui.diff_text import group
from webui.ui.pager import Pager, pager


def _pager(query: str, count: int = 25) -> Pager[int]:
    return pager(RequestFactory().get(f"/some/page{query}"), "rules", range(count), 10)


def test_following_the_addresses_every_item_is_seen_once() -> None:
    seen: list[int] = []
    part = _pager("?q=a+b")
    while True:
        seen += part.items
        assert (part.last, part.total) == (len(seen), 25)
        if not part.following:
            break
        at = urlsplit(part.following)
        assert (at.path, at.fragment, parse_qs(at.query)["q"]) == ("/some/page", "rules", ["a b"])
        part = _pager(f"?{at.query}")
    assert seen == list(range(25))
    assert part.first == 21 and "rules=2" in part.previous


@pytest.mark.parametrize(
    ("asked", "first"), [("0", 21), ("-1", 21), ("99999999999999999999", 21), ("x", 1), ("", 1), ("2", 11)]
)
def test_a_number_that_there_is_not_gives_a_part_that_there_is(asked: str, first: int) -> None:
    assert _pager(f"?rules={asked}").first == first


def test_an_empty_list_has_no_other_part() -> None:
    part = _pager("", 0)
    assert (list(part.items), part.first, part.last, part.total) == ([], 0, 0, 0)
    assert not part.previous and not part.following


def _diff(query: str, rules: int, interfaces: int) -> DiffPage:
    before: dict[str, Any] = {"acls": {"long": {"rules": {}}}, "interfaces": {}}
    after = {
        "acls": {"long": {"rules": {str(n): {"action": "permit"} for n in range(1, rules + 1)}}},
        "interfaces": {f"e{n}": {"type": "loopback"} for n in range(interfaces)},
    }
    objects = group(diff_documents(before, after), before, after)
    return diff_page(RequestFactory().get(f"/history/2{query}"), "changed", objects)


def test_a_long_object_shows_its_first_lines_among_others_and_all_of_them_alone() -> None:
    among = _diff("?steps=3", 2500, 150)
    assert among.total == 151 and len(among.objects) == 100
    (long,) = [one for one in among.objects if one.more]
    assert len(long.lines) + long.more == 2500
    lines: list[str] = []
    address = long.alone
    while address:
        alone = _diff(f"?{urlsplit(address).query}", 2500, 150)
        assert "steps=3" in address and alone.all_objects == "/history/2?steps=3#changed"
        lines += [line.text for line in alone.objects[0].lines]
        address = alone.pager.following
    assert lines == [f"+ {n} permit ipv4 any any any" for n in range(1, 2501)]


@pytest.mark.parametrize("page", [1, 2, 3])
def test_no_page_of_a_difference_is_long_whatever_changes(page: int) -> None:
    shown = _diff(f"?changed={page}", 10_000, 250)
    assert sum(len(one.lines) for one in shown.objects) <= 100 * 100


def test_an_object_that_is_not_in_the_difference_shows_all() -> None:
    shown = _diff("?changed_of=/nowhere", 1, 1)
    assert shown.total == len(shown.objects) == 2
