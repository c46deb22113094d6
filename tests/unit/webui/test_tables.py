"""Tables of objects: rows of document and live state, marks, order, batches, other features' panels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from appliance.config.diff import diff_documents
from appliance.errors import ValidationFailed
from webui.ui.candidate import Candidate
from webui.ui.tables import detail
from webui.ui.tables.batch import switched, without
from webui.ui.tables.cells import by_address, cell_of, natural, sort_key
from webui.ui.tables.declaration import Column, Look, Panel
from webui.ui.tables.row import Row, rows_of


def _candidate(running: dict[str, Any], document: dict[str, Any]) -> Candidate:
    return Candidate(running, document, tuple(diff_documents(running, document)))


def test_rows_are_those_of_the_candidate_those_it_removes_and_those_that_only_live() -> None:
    running = {"acls": {"old": {}, "kept": {"description": "a"}}}
    document = {"acls": {"kept": {"description": "b"}, "new": {}}}
    rows = rows_of(_candidate(running, document), "/acls", {"kept": 1, "stray": 2})
    assert {row.name: row.mark for row in rows} == {
        "old": "removed",
        "kept": "changed",
        "new": "added",
        "stray": "",
    }
    assert [row.name for row in rows if not row.configured] == ["stray"]


def test_a_mark_follows_from_a_change_above_at_or_below() -> None:
    running: dict[str, Any] = {"a": {"b": {"c": 1, "d": {"e": 1}}}}
    document: dict[str, Any] = {"a": {"b": {"c": 1, "d": {"e": 2}}}, "f": {"g": {"h": 1}}}
    candidate = _candidate(running, document)
    marks = {pointer: candidate.mark(pointer) for pointer in ("/a/b", "/a/b/d", "/a/b/c", "/f/g", "/f", "/x")}
    assert marks == {
        "/a/b": "changed",
        "/a/b/d": "changed",
        "/a/b/c": "",
        "/f/g": "added",
        "/f": "added",
        "/x": "",
    }


def test_a_column_reads_settings_and_live_values_of_any_shape() -> None:
    row = Row(
        "x", "/acls/x", {"a": {"b": [1, 2]}, "on": True}, SimpleNamespace(up={"s": 5}), _candidate({}, {})
    )
    assert cell_of(row, Column("a.b"), "").lines == (1, 2)
    assert cell_of(row, Column("on"), "").lines == ("yes",)
    assert cell_of(row, Column("up.s", live=True, look=Look.NUMBER), "").lines == (5,)
    assert cell_of(row, Column("none.of.it", live=True), "").lines == ()


def test_what_is_empty_sorts_last_and_numbers_by_value() -> None:
    row = Row("x", "", {"n": 9, "m": 10}, None, _candidate({}, {}))
    nine, ten, none = (sort_key(cell_of(row, Column(name), "")) for name in ("n", "m", "o"))
    assert nine < ten < none
    assert sorted(["10.10.0.0/16", "10.2.0.0/16", "a"], key=natural) == ["10.2.0.0/16", "10.10.0.0/16", "a"]


def test_names_are_in_the_order_of_addresses_and_numbers() -> None:
    names = ["lan0.10", "2001:db8:a::/48", "100", "10.2.0.0/24", "2001:db8:1::/48", "lan0.2", "10.10.0.0/16"]
    names += ["10.2.0.0/16", "20", "a/b"]
    assert sorted(names, key=by_address) == [
        "20",
        "100",
        "10.2.0.0/16",
        "10.2.0.0/24",
        "10.10.0.0/16",
        "2001:db8:1::/48",
        "2001:db8:a::/48",
        "a/b",
        "lan0.2",
        "lan0.10",
    ]


def test_a_batch_is_one_new_mapping() -> None:
    document = {"interfaces": {name: {"type": "loopback"} for name in ("a", "b", "c")}}
    off = switched(document, "/interfaces", ["a", "c", "gone"], enabled=False)
    assert [one.get("enabled", True) for one in off.values()] == [False, True, False]
    assert switched({"interfaces": off}, "/interfaces", ["a", "c"], enabled=True) == document["interfaces"]
    assert list(without(document, "/interfaces", ["b"])) == ["a", "c"]


def test_what_goes_together_may_name_each_other() -> None:
    """A VLAN does not keep its parent when both are removed; alone the parent stays."""
    nic = {"type": "ethernet", "match": {"device": "x"}}
    document = {"interfaces": {"a": nic, "a.1": {"type": "sub_interface", "parent": "a", "vlan_id": 1}}}
    assert without(document, "/interfaces", ["a", "a.1"]) == {}
    with pytest.raises(ValidationFailed, match=r"Interface a is used by interface a\.1"):
        without(document, "/interfaces", ["a"])


def test_another_feature_adds_a_panel_to_the_page_of_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    members = Panel(
        mapping="/interfaces",
        title="Members",
        columns=(("Name", lambda one: one["name"]), ("State", lambda one: one["state"])),
        rows=lambda row: row.live("members", ()),
        when=lambda row: row.said("type") == "bond",
    )
    monkeypatch.setattr(detail, "PANELS", (members,))
    state = {"members": [{"name": "eth0", "state": "up"}]}
    bond = Row("b", "/interfaces/b", {"type": "bond"}, state, _candidate({}, {}))
    (shown,) = detail.panels_of(bond)
    assert (shown.title, shown.heads, shown.rows) == ("Members", ("Name", "State"), (("eth0", "up"),))
    assert detail.panels_of(Row("l", "/interfaces/l", {"type": "loopback"}, None, _candidate({}, {}))) == []
