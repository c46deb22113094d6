"""The engine's automatic work: the confirm timer, drift, and programs that crash and come back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.engine import keeper
from appliance.engine.records import CommitRequest
from appliance.errors import Conflict
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import Router, commit, compile_toy, document, router

REPORT = {"system": {"drift_policy": "report"}}


@pytest.fixture
def toy(tmp_path: Path) -> Router:
    return router(tmp_path / "state")


def test_what_is_not_confirmed_goes_back(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    before = toy.live()
    result = commit(engine, document("203.0.113.0/24"), confirm_s=60)
    assert result.confirm_expires_at is not None
    toy.clock.wait(59)
    engine.tick()
    pending = engine.pending_confirm()
    assert pending is not None
    assert (pending["revision"], pending["seconds_left"]) == (2, 1.0)
    toy.clock.wait(1)
    with pytest.raises(Conflict, match="not confirmed in time"):
        engine.confirm("bob")
    engine.tick()
    assert toy.live() == before
    assert engine.pending_confirm() is None
    entry = engine.revisions(1)[0]
    assert (entry.revision, entry.author, entry.digest) == (3, "millrace", engine.revisions(3)[2].digest)


def test_what_is_confirmed_stays(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"), confirm_s=60)
    assert engine.confirm("bob") == 1
    toy.clock.wait(100)
    engine.tick()
    assert (engine.revision, engine.pending_confirm()) == (1, None)
    with pytest.raises(Conflict, match="no revision"):
        engine.confirm("bob")


def test_a_commit_on_an_unconfirmed_revision_is_refused_and_a_rollback_is_not(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    commit(engine, document("203.0.113.0/24"), confirm_s=60)
    result = engine.commit(CommitRequest(document(), CommitOptions(author="bob")))
    assert result.error is not None
    assert "awaits confirmation" in result.error.message
    assert engine.rollback(1, CommitOptions(author="bob")).state == "done"
    assert engine.pending_confirm() is None
    toy.clock.wait(100)
    engine.tick()
    assert engine.revision == 3


def test_the_timer_is_on_disk(toy: Router) -> None:
    commit(toy.engine(), document("198.51.100.0/24"), confirm_s=60)
    toy.clock.wait(30)
    restarted = toy.engine()
    restarted.recover()
    pending = restarted.pending_confirm()
    assert pending is not None
    assert pending["seconds_left"] == 30
    toy.clock.wait(31)
    again = toy.engine()
    again.recover()
    assert again.revision == 2
    assert toy.live() == {"linux": {}, "frr": {}}


def test_drift_is_repaired(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    before = toy.live()
    toy.routing.state["route 192.0.2.0/24"] = "by hand"
    toy.plane.state.clear()
    engine.tick()
    assert toy.live() == before
    assert engine.seen.drift == ()
    assert engine.revision == 1


def test_drift_is_only_reported_where_that_is_the_policy(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24", **REPORT))
    toy.routing.state["route 192.0.2.0/24"] = "by hand"
    engine.tick()
    assert engine.seen.drift == ("remove route 192.0.2.0/24",)
    assert "route 192.0.2.0/24" in toy.routing.state
    # A commit starts from the observed state.
    preview = engine.preview(document("198.51.100.0/24", **REPORT))
    assert [planned.step.summary for planned in preview.steps] == ["remove route 192.0.2.0/24"]


@pytest.mark.parametrize("policy", [{}, REPORT])
def test_a_program_that_restarts_gets_back_what_it_lost(toy: Router, policy: dict[str, object]) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24", **policy))
    before = toy.live()
    toy.plane.restart()
    assert toy.live() != before
    engine.tick()
    assert toy.live() == before


def test_a_program_that_was_down_gets_back_what_it_lost(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24", **REPORT))
    before = toy.live()
    toy.routing.up = False
    engine.tick()
    assert engine.seen.health["frr"]["state"] == "down"
    toy.routing.state.clear()
    toy.routing.up = True
    engine.tick()
    assert toy.live() == before
    assert engine.seen.health["frr"]["state"] == "up"


def test_a_repair_that_fails_is_told_and_tried_again(toy: Router) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    before = toy.live()
    toy.routing.refuses = "route 198.51.100.0/24"
    toy.routing.state.clear()
    toy.plane.state.clear()
    engine.tick()
    assert engine.seen.drift == (
        "set route 198.51.100.0/24: route 198.51.100.0/24 is refused",
        "set route 198.51.100.0/24",
    )
    assert toy.plane.state == before["linux"], "one backend's failure does not stop the other"
    toy.routing.refuses = None
    engine.tick()
    assert toy.live() == before


def test_a_router_that_was_never_told_anything_is_left_alone(toy: Router) -> None:
    toy.plane.state["interface eth9"] = "somebody's"
    engine = toy.engine()
    engine.recover()
    assert toy.plane.state == {"interface eth9": "somebody's"}
    assert engine.seen.drift == ()


def test_a_preview_does_not_wait_for_a_long_commit(toy: Router) -> None:
    release, begun = threading.Event(), threading.Event()
    ended: list[int] = []

    def slow(index: int, step: object) -> None:
        begun.set()
        release.wait(120)
        ended.append(index)

    engine = toy.engine()
    commit(engine, document("198.51.100.0/24"))
    engine._committer.live._hook = slow
    thread = threading.Thread(target=commit, args=(engine, document("203.0.113.0/24")))
    thread.start()
    assert begun.wait(60)
    preview = engine.preview(document("192.0.3.0/24"))
    assert not ended, "the commit is at its first step"
    assert preview.base_revision == 1
    assert engine.config()["revision"] == 1
    engine.tick()
    release.set()
    thread.join()
    assert toy.live() == compile_toy(engine._committer.running.prepared.config)


def _counting_looks(toy: Router, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set by each reading of the router."""
    looked = threading.Event()
    observe = toy.plane.observe

    def look() -> dict[str, str]:
        looked.set()
        return observe()

    monkeypatch.setattr(toy.plane, "observe", look)
    return looked


def _wait_until(condition: Callable[[], bool]) -> None:
    """Give the keeper's thread ten seconds; the caller asserts the result."""
    deadline_s = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline_s:
        time.sleep(0.01)


def test_what_is_not_confirmed_goes_back_also_between_looks_that_are_far_apart(
    toy: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_AT_REST", 1e9)
    engine = toy.engine(interval_s=0.02)
    commit(engine, document("192.0.2.0/25"))
    looked = _counting_looks(toy, monkeypatch)
    engine.start()
    try:
        assert looked.wait(10)
        commit(engine, document("198.51.100.0/24"), confirm_s=60)
        looked.clear()
        assert not looked.wait(0.3), "a look within the rest after the last one"
        toy.clock.wait(60)
        _wait_until(lambda: engine.revision == 3)
        assert (engine.pending_confirm(), engine.revision) == (None, 3)
    finally:
        engine.close()


@pytest.mark.parametrize("trouble", ["drift", "down"])
def test_while_something_is_wrong_looks_do_not_rest(
    trouble: str, toy: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_AT_REST", 1e9)
    engine = toy.engine(interval_s=0.02)
    commit(engine, document("198.51.100.0/24", **REPORT))
    if trouble == "drift":
        toy.plane.state.clear()
    else:
        toy.routing.up = False
    looked = _counting_looks(toy, monkeypatch)
    engine.start()
    try:
        for _ in range(3):
            assert looked.wait(10), "no further look"
            looked.clear()
    finally:
        engine.close()


@pytest.mark.parametrize("trouble", ["restarted", "half a commit"])
def test_a_rest_ends_when_something_happens(
    trouble: str, toy: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_AT_REST", 1e9)
    engine = toy.engine(interval_s=0.02)
    commit(engine, document("198.51.100.0/24"))
    before = toy.live()
    looked = _counting_looks(toy, monkeypatch)
    engine.start()
    try:
        assert looked.wait(10)
        with engine._committer.turns.taking(engine._committer.turn("", "check", "test")):
            looked.clear()
        assert not looked.wait(0.3), "a look within the rest after the last one"
        if trouble == "restarted":
            toy.plane.restart()
        else:
            toy.plane.state.clear()
            engine._committer.restore_due = True
        _wait_until(lambda: toy.live() == before)
        assert toy.live() == before
    finally:
        engine.close()
