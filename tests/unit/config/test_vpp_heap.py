"""A configuration that would fill VPP's main heap is refused. The rest of the heap is for routes."""

from __future__ import annotations

from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import check
from appliance.config.vpp_heap import heap_uses
from appliance.dataplane.context import CompileContext
from appliance.dataplane.machine import Machine
from appliance.dataplane.vpp.compile import compile_vpp

SMALL = Capabilities("vpp", main_heap_mb=256, standard_heap_mb=256, full_tables_heap_mb=1536)
LARGE = Capabilities("vpp", main_heap_mb=1536, standard_heap_mb=256, full_tables_heap_mb=1536)
RULES = {str(at): {"action": "deny"} for at in range(1, 65_001)}
NAT = {"inside": ["lo0"], "outside": ["lo1"]}


def _bound(times: int, rules: int = 65_000, **more: Any) -> dict[str, Any]:
    document: dict[str, Any] = {"acls": {"edge": {"rules": dict(list(RULES.items())[:rules])}}, **more}
    document["interfaces"] = {
        f"lo{at}": {"type": "loopback", "addresses": [f"10.0.{at}.1/24"], "acl_in": ["edge"]}
        for at in range(times)
    }
    return document


def _heap_problems(document: dict[str, Any], can: Capabilities = SMALL) -> list[str]:
    problems = check(parse_document(document), can)
    return [one.message for one in problems if one.pointer == "/dataplane/main_heap_mb"]


def test_rules_that_ended_vpp_are_refused_and_told_the_size() -> None:
    """65,000 rules on 16 interfaces crashed a VPP with a heap of 256 MB."""
    (message,) = _heap_problems(_bound(16))
    assert "heap has 256 MB, and the configuration needs 313 MB" in message
    assert "access lists (65,000 rules, bound 16 times)" in message
    assert "Set 320 or more" in message
    assert _heap_problems(_bound(16, dataplane={"main_heap_mb": 320})) == []
    assert _heap_problems(_bound(16, dataplane={"route_scale": "full_tables"})) == []
    assert _heap_problems(_bound(10)) == []


def test_the_heap_is_that_of_the_route_scale_that_is_chosen() -> None:
    assert _heap_problems(_bound(16), LARGE) == []
    assert _heap_problems(_bound(16, dataplane={"route_scale": "standard"}), LARGE) != []
    assert _heap_problems(_bound(16, dataplane={"stats_segment_mb": 128}), LARGE) != []


@pytest.mark.parametrize("can", [Capabilities("vpp"), Capabilities("linux")])
def test_where_nobody_knows_the_heap_nothing_is_counted(can: Capabilities) -> None:
    assert _heap_problems(_bound(16), can) == []


def test_sessions_of_nat_are_counted_for_each_worker() -> None:
    config = parse_document(_bound(2, rules=1) | {"nat": NAT})
    sizes = [{use.what: use.size_bytes for use in heap_uses(config, workers)} for workers in (0, 1, 4)]
    assert sizes[0] == sizes[1]
    assert sizes[0]["NAT (room for 131,072 sessions)"] == 8_000_000 + 131_072 * 400
    assert sizes[2]["NAT (room for 524,288 sessions)"] == 8_000_000 + 524_288 * 400


def _room(document: dict[str, Any]) -> int:
    config = parse_document({"schema_version": 1, **document})
    room = compile_vpp(config, {}, CompileContext(machine=Machine(2, 2048))).room
    assert room is not None and room.most is not None
    return room.most


def test_what_features_take_is_taken_from_the_routes_and_in_portions() -> None:
    empty = _room({})
    assert empty == ((256 - 40) << 20) // 730, "as large as a heap of 256 MB without anything else allows"
    listed = _room(_bound(1, rules=1))
    assert listed == ((256 - 40 - 76) << 20) // 730
    assert _room(_bound(1, rules=2)) == listed, "a rule more is no other number"
    assert _room(_bound(4)) < _room(_bound(2)) < listed
