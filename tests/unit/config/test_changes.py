"""Pointers, patches, differences and three-way merges of plain documents."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.diff import Change, diff_documents
from appliance.config.merge import merge
from appliance.config.pointer import delete, join, json_patch, merge_patch, put, resolve, split
from appliance.errors import NotFound, ValidationFailed

BASE: dict[str, Any] = {
    "interfaces": {"lan0": {"type": "loopback", "mtu": 1500, "addresses": ["10.0.0.1/24"]}},
    "routing": {"static": {"10.1.0.0/16": {"blackhole": True}}},
    "acls": {"a": {"rules": {"9": {"action": "deny"}, "10": {"action": "permit"}}}},
}


def test_pointers_are_split_and_joined() -> None:
    assert split("/routing/static/10.1.0.0~116/a~0b") == ["routing", "static", "10.1.0.0/16", "a~b"]
    assert join(["routing", "static", "10.1.0.0/16", "a~b"]) == "/routing/static/10.1.0.0~116/a~0b"
    assert resolve(BASE, "") is BASE
    assert resolve(BASE, "/interfaces/lan0/addresses/0") == "10.0.0.1/24"
    for bad in ("interfaces", "/a~", "/a~2"):
        with pytest.raises(ValidationFailed):
            split(bad)
    for missing in (
        "/nowhere",
        "/interfaces/lan0/addresses/1",
        "/interfaces/lan0/addresses/00",
        "/interfaces/lan0/mtu/x",
    ):
        with pytest.raises(NotFound):
            resolve(BASE, missing)


def test_put_and_delete_leave_the_original_alone() -> None:
    changed = put(BASE, "/interfaces/wan0/mtu", 9000)
    assert changed["interfaces"]["wan0"] == {"mtu": 9000}
    assert put(BASE, "/interfaces/lan0/addresses/-", "x")["interfaces"]["lan0"]["addresses"] == [
        "10.0.0.1/24",
        "x",
    ]
    assert "lan0" not in delete(BASE, "/interfaces/lan0")["interfaces"]
    assert delete(BASE, "/interfaces/lan0/addresses/0")["interfaces"]["lan0"]["addresses"] == []
    assert "wan0" not in BASE["interfaces"]
    with pytest.raises(NotFound):
        delete(BASE, "/interfaces/wan0")
    with pytest.raises(ValidationFailed):
        put(BASE, "/interfaces/lan0/mtu/x", 1)


def test_patches() -> None:
    assert merge_patch(BASE, {"interfaces": {"lan0": {"mtu": None}}})["interfaces"]["lan0"] == {
        "type": "loopback",
        "addresses": ["10.0.0.1/24"],
    }
    patched = json_patch(
        BASE,
        [
            {"op": "test", "path": "/interfaces/lan0/mtu", "value": 1500},
            {"op": "replace", "path": "/interfaces/lan0/mtu", "value": 1400},
        ],
    )
    assert patched["interfaces"]["lan0"]["mtu"] == 1400
    assert BASE["interfaces"]["lan0"]["mtu"] == 1500


@pytest.mark.parametrize(
    "patch",
    [
        {},
        ["x"],
        [{"op": "add"}],
        [{"op": "frob", "path": "/a", "value": 1}],
        [{"op": "remove", "path": "/nowhere"}],
        [{"op": "add", "path": "nowhere", "value": 1}],
        [{"op": "test", "path": "/acls", "value": 1}],
        [{"op": "add", "path": "/interfaces/lan0/addresses/9", "value": 1}],
        [{"op": "move", "from": "/acls", "path": "/acls/a"}],
        [{"op": "add", "path": 7, "value": 1}],
        [{"op": "copy", "from": None, "path": "/x"}],
    ],
)
def test_a_patch_that_cannot_be_is_refused(patch: Any) -> None:
    try:
        result = json_patch(BASE, patch)
    except ValidationFailed as refused:
        assert refused.problems
    else:
        # RFC 6902 forbids moving a value into itself; the library removes it first and then finds no parent.
        pytest.fail(f"accepted: {result}")


def test_differences_are_as_deep_as_they_can_be_said() -> None:
    after = put(put(BASE, "/interfaces/lan0/mtu", 1400), "/acls/a/rules/11", {"action": "deny"})
    after = delete(after, "/routing/static/10.1.0.0~116")
    assert diff_documents(BASE, after) == [
        Change("add", "/acls/a/rules/11", None, {"action": "deny"}),
        Change("replace", "/interfaces/lan0/mtu", 1500, 1400),
        Change("remove", "/routing/static/10.1.0.0~116", {"blackhole": True}, None),
    ]
    assert diff_documents(BASE, BASE) == []
    assert [change.op for change in diff_documents(after, BASE)] == ["remove", "replace", "add"]


def test_a_difference_in_a_secret_shows_that_there_is_one_and_no_more() -> None:
    def neighbor(**settings: str) -> dict[str, Any]:
        return {"routing": {"bgp": {"neighbors": {"10.0.0.2": {"remote_asn": 1, **settings}}}}}

    changed = diff_documents(neighbor(password="one"), neighbor(password="two"))
    assert changed == [Change("replace", "/routing/bgp/neighbors/10.0.0.2/password", "********", "********")]
    added = diff_documents({}, neighbor(password="hush"))
    assert "hush" not in repr(added)


def test_changes_of_both_sides_come_together() -> None:
    ours = put(BASE, "/interfaces/lan0/mtu", 1400)
    theirs = put(put(BASE, "/acls/a/rules/11", {"action": "deny"}), "/interfaces/lan0/description", "x")
    merged = merge(BASE, ours, theirs)
    assert merged.conflicts == ()
    assert merged.document["interfaces"]["lan0"] == {
        **BASE["interfaces"]["lan0"],
        "mtu": 1400,
        "description": "x",
    }
    assert merged.document["acls"]["a"]["rules"]["11"] == {"action": "deny"}
    assert merge(BASE, BASE, ours).document == ours
    assert merge(BASE, ours, ours).conflicts == ()


@pytest.mark.parametrize(
    ("ours", "theirs", "path"),
    [
        (
            put(BASE, "/interfaces/lan0/mtu", 1400),
            put(BASE, "/interfaces/lan0/mtu", 1300),
            "/interfaces/lan0/mtu",
        ),
        (delete(BASE, "/acls/a"), put(BASE, "/acls/a/rules/9/action", "permit"), "/acls/a"),
        (put(BASE, "/acls/b", {"rules": {}}), put(BASE, "/acls/b", {"description": "x"}), None),
        (
            put(BASE, "/interfaces/lan0", {"type": "ethernet"}),
            put(BASE, "/interfaces/lan0/mtu", 1300),
            "/interfaces/lan0",
        ),
        (
            put(BASE, "/interfaces/lan0/addresses", ["10.0.0.2/24"]),
            put(BASE, "/interfaces/lan0/addresses", []),
            "/interfaces/lan0/addresses",
        ),
    ],
)
def test_true_conflicts_are_told_and_only_those(ours: Any, theirs: Any, path: str | None) -> None:
    assert [conflict.path for conflict in merge(BASE, ours, theirs).conflicts] == ([path] if path else [])
