"""The queue of commits: whose turn it is, the progress of the running one, and cancelling it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from appliance.engine import keeper, turns
from appliance.engine.backend import Step
from appliance.engine.engine import Engine
from appliance.engine.records import CommitRequest, CommitResult
from appliance.errors import Conflict, NotFound
from appliance.state.commit_options import CommitOptions
from appliance.state.commits import CommitUnderWay
from tests.unit.engine.toys import CONFIRMED, UNCONFIRMED, Router, commit, document, router

LONG = document("198.51.100.0/25", "198.51.100.128/25", "203.0.113.0/24")
"""Four steps from nothing: a loopback and three routes."""
_DEADLINE_S = 60.0


class Halting:
    """A router whose step ``at`` ends only when it is released."""

    def __init__(self, toy: Router) -> None:
        self.toy = toy
        self.at: int | None = None
        self.reached, self.released = threading.Event(), threading.Event()
        self.engine: Engine = toy.engine(self._hook)
        self._pool = ThreadPoolExecutor(32)

    def _hook(self, index: int, _step: Step) -> None:
        if index == self.at:
            self.at = None
            self.reached.set()
            assert self.released.wait(_DEADLINE_S)

    def begin(
        self, wanted: dict[str, Any], author: str, base_revision: int | None = None
    ) -> Future[CommitResult]:
        """Commit in a thread."""
        request = CommitRequest(
            wanted, CommitOptions(author=author, request_id=f"of-{author}"), base_revision
        )
        return self._pool.submit(self.engine.commit, request)

    def begin_halted(self, wanted: dict[str, Any], author: str, at: int = 1) -> Future[CommitResult]:
        """Commit in a thread, until the step ``at`` is made and does not end."""
        self.at = at
        begun = self.begin(wanted, author)
        assert self.reached.wait(_DEADLINE_S)
        return begun

    def begin_queued(self, wanted: dict[str, Any], author: str, **more: Any) -> Future[CommitResult]:
        """Commit in a thread, until it waits for its turn."""
        begun = self.begin(wanted, author, **more)
        wait_until(lambda: any(one.author == author for one in self.engine.turns.under_way().queued))
        return begun

    def close(self) -> None:
        """Let everything end."""
        self.released.set()
        self._pool.shutdown(wait=True)
        self.engine.close()

    @property
    def running(self) -> CommitUnderWay:
        """The commit that runs."""
        running = self.engine.turns.under_way().running
        assert running is not None
        return running


def wait_until(condition: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + _DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


@pytest.fixture
def halting(tmp_path: Path) -> Iterator[Halting]:
    made = Halting(router(tmp_path / "state"))
    yield made
    made.close()


def error_of(ended: Future[CommitResult]) -> tuple[str, str]:
    error = ended.result(_DEADLINE_S).error
    assert error is not None
    return error.kind, error.message


def test_the_one_that_runs_says_how_far_it_is(halting: Halting) -> None:
    alice = halting.begin_halted(LONG, "alice", at=1)
    running = halting.running
    assert (running.id, running.author, running.kind, running.position) == ("of-alice", "alice", "commit", 0)
    assert (running.state, running.step, running.steps) == ("applying", 2, 4)
    assert running.words == "applies step 2 of 4: set route 198.51.100.0/25"
    assert halting.engine.turns.find("of-alice") == running
    halting.released.set()
    assert alice.result(_DEADLINE_S).state == "done"
    assert halting.engine.turns.under_way().running is None
    assert halting.engine.turns.find("of-alice") is None


def test_others_wait_in_the_order_in_which_they_came(halting: Halting) -> None:
    alice = halting.begin_halted(LONG, "alice")
    bob = halting.begin_queued(CONFIRMED, "bob")
    carol = halting.begin_queued(UNCONFIRMED, "carol")
    queued = halting.engine.turns.under_way().queued
    assert [(one.author, one.position, one.ahead) for one in queued] == [
        ("bob", 1, ("the commit of alice",)),
        ("carol", 2, ("the commit of alice", "the commit of bob")),
    ]
    assert queued[1].words == "waits at position 2, behind the commit of alice and 1 more"
    halting.released.set()
    assert [one.result(_DEADLINE_S).revision for one in (alice, bob, carol)] == [1, 2, 3]


def test_one_that_waited_is_checked_again_when_its_turn_comes(halting: Halting) -> None:
    halting.begin_halted(LONG, "alice")
    bob = halting.begin_queued(CONFIRMED, "bob", base_revision=0)
    halting.released.set()
    assert error_of(bob) == ("conflict", "the change is based on revision 0, but 1 runs")


def test_the_queue_is_bounded_and_says_who_is_in_the_way(
    halting: Halting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "MOST_WAITING", 2)
    halting.begin_halted(LONG, "alice")
    waiting = [halting.begin_queued(CONFIRMED, author) for author in ("bob", "carol")]
    kind, message = error_of(halting.begin(CONFIRMED, "dave"))
    assert kind == "conflict"
    assert message.startswith("the commit of alice is under way, and 2 commits wait for their turn")
    halting.released.set()
    assert [one.result(_DEADLINE_S).state for one in waiting] == ["done", "done"]


def test_nobody_waits_for_ever(halting: Halting) -> None:
    halting.begin_halted(LONG, "alice")
    committer = halting.engine._committer
    late = committer.turn("of-bob", "commit", "bob")
    with (
        pytest.raises(Conflict, match="behind the commit of alice"),
        committer.turns.taking(late, wait_s=0.01),
    ):
        pass
    assert halting.engine.turns.under_way().queued == ()


def test_one_that_waits_is_cancelled_at_once(halting: Halting) -> None:
    alice = halting.begin_halted(LONG, "alice")
    bob = halting.begin_queued(CONFIRMED, "bob")
    carol = halting.begin_queued(UNCONFIRMED, "carol")
    cancelled = halting.engine.cancel("of-bob", "dave")
    assert (cancelled.author, cancelled.cancelled_by, cancelled.can_cancel) == ("bob", "dave", False)
    assert error_of(bob) == ("cancelled", "cancelled by dave before it changed anything")
    assert not alice.done()
    halting.released.set()
    assert carol.result(_DEADLINE_S).revision == 2


@pytest.mark.parametrize("at", range(4))
def test_one_that_runs_stops_before_its_next_step_and_is_undone(halting: Halting, at: int) -> None:
    commit(halting.engine, document("192.0.2.128/25"))
    before = halting.toy.live()
    # The last of them is the end of the last step.
    alice = halting.begin_halted(LONG, "alice", at=at)
    assert halting.toy.live() != before
    halting.engine.cancel("of-alice", "bob")
    assert halting.running.cancelled_by == "bob"
    bob = halting.begin_queued(CONFIRMED, "bob")
    halting.released.set()
    assert error_of(alice) == ("cancelled", "cancelled by bob, undone")
    result = alice.result()
    assert (result.state, result.error is not None and result.error.undone) == ("failed", True)
    assert halting.engine.job("of-alice") == result
    assert bob.result(_DEADLINE_S).revision == 2
    commit(halting.engine, document("192.0.2.128/25"))
    assert halting.toy.live() == before
    assert not (halting.toy.directory / "journal.json").exists()


def test_a_rollback_is_cancelled_as_a_commit_is(halting: Halting) -> None:
    commit(halting.engine, document("192.0.2.128/25"))
    commit(halting.engine, LONG)
    before = halting.toy.live()
    halting.at = 0
    rollback = halting._pool.submit(
        halting.engine.rollback, 1, CommitOptions(author="alice", request_id="back")
    )
    assert halting.reached.wait(_DEADLINE_S)
    assert (halting.running.kind, halting.running.comment) == ("rollback", "Roll back to revision 1")
    halting.engine.cancel("back", "alice")
    halting.released.set()
    assert error_of(rollback) == ("cancelled", "cancelled by alice, undone")
    assert (halting.engine.revision, halting.toy.live()) == (2, before)


def test_an_undo_that_is_not_complete_is_told(halting: Halting) -> None:
    commit(halting.engine, document("192.0.2.128/25"))
    alice = halting.begin_halted(LONG, "alice")
    halting.toy.plane.undo_refuses = halting.toy.routing.undo_refuses = True
    halting.toy.routing.refuses = "route 192.0.2.128/25"
    halting.engine.cancel("of-alice", "bob")
    halting.released.set()
    assert error_of(alice) == ("cancelled", "cancelled by bob, and the undo is not complete: see drift")
    # The keeper does that, as after a failed commit.
    halting.toy.routing.refuses = None
    halting.engine.tick()
    assert halting.engine.seen.drift == ()


def test_one_that_is_recorded_can_no_longer_be_cancelled(
    halting: Halting, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = halting.engine._committer.store
    append = store.append

    def slowly(*arguments: Any) -> None:
        halting.reached.set()
        assert halting.released.wait(_DEADLINE_S)
        append(*arguments)

    monkeypatch.setattr(store, "append", slowly)
    alice = halting.begin(LONG, "alice")
    assert halting.reached.wait(_DEADLINE_S)
    assert (halting.running.state, halting.running.can_cancel) == ("recording", False)
    with pytest.raises(Conflict, match="can no longer be cancelled: roll it back"):
        halting.engine.cancel("of-alice", "bob")
    halting.released.set()
    assert alice.result(_DEADLINE_S).revision == 1
    with pytest.raises(Conflict, match="is over"):
        halting.engine.cancel("of-alice", "bob")
    with pytest.raises(NotFound):
        halting.engine.cancel("of-nobody", "bob")


def test_the_rollback_of_a_timer_goes_before_all_who_wait(
    halting: Halting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_URGENT_WAIT_S", _DEADLINE_S)
    commit(halting.engine, CONFIRMED)
    confirmed = halting.toy.live()
    commit(halting.engine, UNCONFIRMED, confirm_s=60)
    halting.at = 0
    by_hand = halting._pool.submit(
        halting.engine.rollback, 0, CommitOptions(author="alice", request_id="back")
    )
    assert halting.reached.wait(_DEADLINE_S)
    bob = halting.begin_queued(document("192.0.2.128/25"), "bob")
    halting.toy.clock.wait(61)
    tick = halting._pool.submit(halting.engine.tick)
    wait_until(lambda: len(halting.engine.turns.under_way().queued) == 2)
    assert [(one.kind, one.author) for one in halting.engine.turns.under_way().queued] == [
        ("rollback", "millrace"),
        ("commit", "bob"),
    ]
    assert not halting.engine.turns.under_way().queued[0].can_cancel
    halting.released.set()
    tick.result(_DEADLINE_S)
    assert "was not confirmed in time" in error_of(by_hand)[1]
    assert bob.result(_DEADLINE_S).revision == 4
    authors = [(one.revision, one.author) for one in halting.engine.revisions(2)]
    assert authors == [(4, "bob"), (3, "millrace")]
    commit(halting.engine, CONFIRMED)
    assert halting.toy.live() == confirmed


def test_those_who_wait_are_refused_when_the_agent_stops(halting: Halting) -> None:
    alice = halting.begin_halted(LONG, "alice")
    bob = halting.begin_queued(CONFIRMED, "bob")
    halting.engine.turns.dismiss()
    assert error_of(bob) == ("conflict", "the agent is stopping: nothing of this was done")
    halting.released.set()
    assert alice.result(_DEADLINE_S).revision == 1


def test_after_a_kill_those_who_waited_are_gone_and_the_one_that_ran_is_undone(halting: Halting) -> None:
    commit(halting.engine, document("192.0.2.128/25"))
    before = halting.toy.live()
    halting.begin_halted(LONG, "alice")
    halting.begin_queued(CONFIRMED, "bob")
    # Another agent on the same disk and router, as after kill -9; threads of the first one still exist.
    again = halting.toy.engine()
    again.recover()
    assert (again.revision, halting.toy.live()) == (1, before)
    for request_id in ("of-alice", "of-bob"):
        result = again.job(request_id)
        assert result.error is not None
        assert "the agent was stopped during the commit" in result.error.message
    assert again.turns.under_way().running is None and again.turns.under_way().queued == ()
    again.close()
    for request_id in ("of-bob", "of-alice"):
        halting.engine.cancel(request_id, "test")
