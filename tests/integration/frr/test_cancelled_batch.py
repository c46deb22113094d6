"""A commit of many route maps that is cancelled in its middle, on real FRR, while another user waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.engine.backend import Step
from appliance.engine.engine import Engine
from appliance.engine.records import CommitRequest
from appliance.engine.transaction import Patience
from appliance.routing.frr import FrrBackend
from appliance.routing.wanted import WantedRouting
from appliance.state.commit_options import CommitOptions
from tests.integration.frr.harness import FrrHarness, wait_until

pytestmark = pytest.mark.root

ROUTE_MAPS = 1000
RULES = {"10": {"action": "permit", "set": {"local_preference": 200}}, "20": {"action": "deny"}}
KEPT: dict[str, Any] = {
    "interfaces": {"lo1": {"type": "loopback", "addresses": ["192.0.2.1/24"]}},
    "routing": {
        "static": {"198.51.100.0/24": {"next_hops": [{"address": "192.0.2.2"}]}},
        "policy": {"route_maps": {"kept": {"rules": {"10": {"action": "permit", "set": {"metric": 1}}}}}},
    },
}
_WAIT_S = 120.0


def _with(route_maps: int = 0, static: int = 0) -> dict[str, Any]:
    maps = {f"m{number}": {"rules": RULES} for number in range(route_maps)}
    routes = {
        f"203.0.{number // 256}.{number % 256}/32": {"next_hops": [{"address": "192.0.2.2"}]}
        for number in range(static)
    }
    kept = KEPT["routing"]
    return {
        **KEPT,
        "routing": {
            "static": {**kept["static"], **routes},
            "policy": {"route_maps": {**kept["policy"]["route_maps"], **maps}},
        },
    }


@dataclass
class Cancelling:
    """An engine over FRR whose commit is cancelled when so many of its steps are made."""

    harness: FrrHarness
    engine: Engine
    at: list[int] = field(default_factory=list)
    made: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    def configuration(self) -> str:
        """What FRR's own tool shows of all daemons."""
        return self.harness.vtysh("show running-config")


@pytest.fixture
def cancelling(empty_router: FrrHarness, tmp_path: Path) -> Iterator[Cancelling]:
    backend = FrrBackend(
        empty_router.netns, empty_router.vty_dir, tmp_path / "frr", client=empty_router.client()
    )
    (tmp_path / "frr").mkdir()
    made: list[Cancelling] = []

    def hook(index: int, _step: Step) -> None:
        one = made[0]
        if index in one.at:
            one.made.set()
            assert one.go_on.wait(_WAIT_S)

    def compiled(config: RouterConfig) -> dict[str, Any]:
        return {"frr": WantedRouting.of(config)}

    engine = Engine(
        (backend,),
        compiled,
        lambda: Capabilities(driver="linux"),
        tmp_path / "state",
        step_hook=hook,
        patience=Patience(settle_s=30),
    )
    made.append(Cancelling(empty_router, engine))
    yield made[0]
    engine.close()


def test_a_thousand_route_maps_are_cancelled_in_the_middle(
    cancelling: Cancelling, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = cancelling.engine
    first = engine.commit(CommitRequest(_with(), CommitOptions(author="alice")))
    assert first.state == "done", first
    before = cancelling.configuration()
    many = _with(ROUTE_MAPS, static=100)
    steps = engine.preview(many).steps
    assert len(steps) > 1
    cancelling.at = [0]
    with ThreadPoolExecutor(2) as pool:
        alice = pool.submit(
            engine.commit, CommitRequest(many, CommitOptions(author="alice", request_id="many"))
        )
        assert cancelling.made.wait(_WAIT_S)
        assert cancelling.configuration() != before
        bob = pool.submit(engine.commit, CommitRequest(_with(static=1), CommitOptions(author="bob")))
        wait_until(lambda: bool(engine.turns.under_way().queued), "bob waits", _WAIT_S)
        began_s = time.monotonic()
        engine.cancel("many", "bob")
        cancelling.go_on.set()
        cancelled = alice.result(_WAIT_S)
        undone_s = time.monotonic() - began_s
        second = bob.result(_WAIT_S)
        waited_s = time.monotonic() - began_s
    assert cancelled.error is not None
    assert (cancelled.error.kind, cancelled.error.message) == ("cancelled", "cancelled by bob, undone")
    assert second.revision == 2, second
    back = engine.commit(CommitRequest(_with(), CommitOptions(author="alice")))
    assert back.state == "done", back
    assert cancelling.configuration() == before
    assert engine.preview(_with()).steps == ()
    with capsys.disabled():
        print(
            f"\n{ROUTE_MAPS} route maps of two rules and 100 routes, cancelled after step 1 of {len(steps)}: "
            f"undone {undone_s:.2f} s after the cancel, another's line done after {waited_s:.2f} s"
        )


def test_one_step_of_a_thousand_route_maps_is_cancelled_at_its_end(cancelling: Cancelling) -> None:
    engine = cancelling.engine
    engine.commit(CommitRequest(_with(), CommitOptions(author="alice")))
    before = cancelling.configuration()
    cancelling.at = [0]
    with ThreadPoolExecutor(1) as pool:
        alice = pool.submit(
            engine.commit, CommitRequest(_with(ROUTE_MAPS), CommitOptions(author="alice", request_id="many"))
        )
        assert cancelling.made.wait(_WAIT_S)
        engine.cancel("many", "alice")
        cancelling.go_on.set()
        cancelled = alice.result(_WAIT_S)
    assert cancelled.error is not None and cancelled.error.undone
    assert cancelling.configuration() == before
    assert engine.preview(_with()).steps == ()
    assert engine.revision == 1


def test_another_user_waits_for_a_thousand_route_maps(
    cancelling: Cancelling, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = cancelling.engine
    engine.commit(CommitRequest(_with(), CommitOptions(author="alice")))
    with ThreadPoolExecutor(2) as pool:
        began_s = time.monotonic()
        alice = pool.submit(engine.commit, CommitRequest(_with(ROUTE_MAPS), CommitOptions(author="alice")))
        wait_until(lambda: engine.turns.under_way().running is not None, "alice commits", _WAIT_S)
        asked_s = time.monotonic()
        bob = pool.submit(
            engine.commit, CommitRequest(_with(ROUTE_MAPS, static=1), CommitOptions(author="bob"))
        )
        assert alice.result(_WAIT_S).revision == 2
        took_s = time.monotonic() - began_s
        assert bob.result(_WAIT_S).revision == 3
        waited_s = time.monotonic() - asked_s
    with capsys.disabled():
        print(f"\n{ROUTE_MAPS} route maps: {took_s:.2f} s; another's line meanwhile {waited_s:.2f} s")
