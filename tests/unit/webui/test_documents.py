"""Edits of sealed documents, without any agent."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.errors import NotFound, ValidationFailed
from webui.changes import documents
from webui.errors import RequestProblem

SEALED = "$sealed$gAAAA"
DOCUMENT: dict[str, Any] = {
    "schema_version": 1,
    "interfaces": {"lan0": {"type": "ethernet", "match": {"device": "nic0"}}, "lo1": {"type": "loopback"}},
    "routing": {
        "static": {"2001:db8::/32": {"blackhole": True}},
        "bgp": {"asn": 65000, "neighbors": {"192.0.2.1": {"remote_asn": 65001, "password": SEALED}}},
    },
    "acls": {"in": {"rules": {"10": {"action": "permit"}}}},
}


@pytest.mark.parametrize(
    ("pointer", "canonical"),
    [
        ("", ""),
        ("/routing/static/2001:DB8:0::~132", "/routing/static/2001:db8::~132"),
        ("/acls/in/rules/010", "/acls/in/rules/10"),
        ("/routing/ospf/areas/0", "/routing/ospf/areas/0.0.0.0"),
        ("/interfaces/lan0/match/device", "/interfaces/lan0/match/device"),
        ("/interfaces/lo9/addresses/0", "/interfaces/lo9/addresses/0"),
        ("/interfaces/v100/vlan_id", "/interfaces/v100/vlan_id"),
    ],
)
def test_pointers_become_canonical(pointer: str, canonical: str) -> None:
    assert documents.canonical_pointer(pointer, DOCUMENT) == canonical


@pytest.mark.parametrize(
    "pointer",
    ["/nothing", "/interfaces/UPPER", "/interfaces/lo1/match", "/acls/in/rules/x", "/system/hostname/x"],
)
def test_places_that_cannot_be(pointer: str) -> None:
    with pytest.raises(NotFound):
        documents.canonical_pointer(pointer, DOCUMENT)


@pytest.mark.parametrize("pointer", ["interfaces", "/a~2", "/~"])
def test_what_is_no_pointer(pointer: str) -> None:
    with pytest.raises(RequestProblem):
        documents.canonical_pointer(pointer, DOCUMENT)


def test_a_masked_secret_keeps_what_is_sealed() -> None:
    neighbor = {"remote_asn": 65001, "password": "********", "description": "up"}
    after = documents.put(DOCUMENT, "/routing/bgp/neighbors/192.0.2.1", neighbor)
    assert after["routing"]["bgp"]["neighbors"]["192.0.2.1"] == {**neighbor, "password": SEALED}


def test_a_masked_secret_with_nothing_behind_it_is_refused() -> None:
    with pytest.raises(ValidationFailed) as refused:
        documents.put(DOCUMENT, "/routing/bgp/neighbors/192.0.2.5", {"remote_asn": 1, "password": "********"})
    assert refused.value.problems[0].pointer == "/routing/bgp/neighbors/192.0.2.5/password"


def test_a_plain_secret_is_sealed_by_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    class Agent:
        def seal(self, document: dict[str, Any]) -> dict[str, Any]:
            assert document["routing"]["bgp"]["neighbors"]["192.0.2.1"]["password"] == "plain"
            return {"sealed": True}

    monkeypatch.setattr(documents, "agent", Agent)
    place = "/routing/bgp/neighbors/192.0.2.1/password"
    assert documents.put(DOCUMENT, place, "plain") == {"sealed": True}


def test_defaults_are_read_and_left_out_of_what_is_written() -> None:
    assert documents.value_at(DOCUMENT, "/interfaces/lo1/mtu") == 1500
    assert documents.value_at(DOCUMENT, "/system") == {}
    assert documents.put(DOCUMENT, "/interfaces/lo1/mtu", 1500)["interfaces"]["lo1"] == {"type": "loopback"}
    with pytest.raises(NotFound):
        documents.value_at(DOCUMENT, "/routing/ospf")


def test_rename_moves_and_never_overwrites() -> None:
    after = documents.rename(DOCUMENT, "/acls/in", "outside")
    assert list(after["acls"]) == ["outside"]
    with pytest.raises(ValidationFailed):
        documents.rename(DOCUMENT, "/interfaces/lo1", "lan0")


def test_depth_is_limited_without_recursion() -> None:
    deep: Any = 1
    for _ in range(200_000):
        deep = [deep]
    with pytest.raises(ValidationFailed):
        documents.check_depth(deep)
    # Shared parts were checked before; the parts attached next to them were not.
    known = {"a": deep, "b": {"c": 1}}
    documents.check_depth({"a": deep, "b": {"c": [2]}}, known)
    for beside in ({**known, "b": {"c": deep}}, {**known, "b": [deep]}, {"a": [deep]}, [deep]):
        with pytest.raises(ValidationFailed):
            documents.check_depth(beside, known)
    known.clear()
    del beside
    while isinstance(deep, list):
        deep = deep.pop()
