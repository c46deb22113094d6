"""The work for one changed line, counted in calls of Python functions, so that the machine's noise has no
effect.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.property.fake_router import NICS, FakeRouter

LISTS, RULES = 10, 500


def _document(lists: int) -> dict[str, Any]:
    rules = {
        str(number): {"action": "deny", "protocol": "tcp", "destination_ports": str(1024 + number)}
        for number in range(1, RULES + 1)
    }
    return {
        "interfaces": {
            "lan0": {"type": "ethernet", "match": {"mac": NICS[0].mac}, "addresses": ["10.20.0.1/24"]}
        },
        "routing": {"static": {"198.51.100.0/24": {"next_hops": [{"address": "10.20.0.2"}]}}},
        "acls": {f"list{number}": {"rules": rules} for number in range(lists)},
    }


def _calls(act: Callable[[], object]) -> int:
    """Of Python functions, in this thread."""
    count = 0

    def one(_frame: FrameType, event: str, _what: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(one)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def _one_line(running: dict[str, Any], number: int) -> dict[str, Any]:
    """As a client sends it: it shares no objects with the running document."""
    changed: dict[str, Any] = json.loads(json.dumps(running))
    changed["routing"]["static"][f"203.0.113.{number}/32"] = {"next_hops": [{"address": "10.20.0.2"}]}
    return changed


def _of_one_line(router: FakeRouter, lists: int) -> Iterator[tuple[str, int]]:
    engine = router.engine()
    # The first time much is compiled and cached.
    for number in range(3):
        document = _document(lists) if number == 0 else _one_line(engine.config()["document"], number)
        assert engine.commit(CommitRequest(document, CommitOptions(author="alice"))).state == "done"
    previewed, committed = (_one_line(engine.config()["document"], number) for number in (10, 11))
    yield "preview", _calls(lambda: engine.preview(previewed))
    yield "commit", _calls(lambda: engine.commit(CommitRequest(committed, CommitOptions(author="alice"))))
    assert engine.revision == 4
    engine.close()


def test_rules_that_did_not_change_are_not_gone_through(tmp_path: Path) -> None:
    few = dict(_of_one_line(FakeRouter(tmp_path / "few"), 1))
    many = dict(_of_one_line(FakeRouter(tmp_path / "many"), LISTS))
    for kind, calls in many.items():
        assert calls - few[kind] < (LISTS - 1) * RULES // 5, (kind, few[kind], calls)
