"""Commit-confirm under the worst conditions: clocks that jump, programs that are down or crash because of
the commit, kill -9 at every step, slow work in the same agent. Each case ends on the confirmed revision.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from appliance.config.document import RouterConfig
from appliance.engine import durable
from appliance.engine.backend import Step
from appliance.engine.engine import Engine
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import (
    CONFIRMED,
    UNCONFIRMED,
    Killed,
    Router,
    commit,
    compile_toy,
    document,
    dying,
    pending_of,
    router,
    unconfirmed,
)

HOUR_S = 3600.0


@pytest.fixture
def toy(tmp_path: Path) -> Router:
    return router(tmp_path / "state")


def _documents_match(engine: Engine) -> bool:
    return bool(engine.config()["digest"] == engine.revisions(100)[-1].digest)


# Clocks.


@pytest.mark.parametrize("jump_s", [-HOUR_S, HOUR_S])
def test_a_clock_that_is_set_while_the_timer_runs_does_not_move_it(toy: Router, jump_s: float) -> None:
    engine, before = unconfirmed(toy)
    toy.clock.wait(30)
    toy.clock.now_s += jump_s
    engine.tick()
    assert (engine.revision, pending_of(engine)["seconds_left"]) == (2, 30)
    toy.clock.wait(29.9)
    engine.tick()
    assert engine.revision == 2
    toy.clock.wait(0.1)
    engine.tick()
    assert (engine.revision, engine.pending_confirm(), toy.live()) == (3, None, before)


@pytest.mark.parametrize("jump_s", [-HOUR_S, 0.0, HOUR_S, 1e9])
def test_over_a_reboot_the_time_that_was_left_is_left_whatever_the_clock_says(
    toy: Router, jump_s: float
) -> None:
    _, before = unconfirmed(toy)
    toy.clock.wait(12)
    toy.engine().recover()  # the agent notes what is left
    toy.clock.now_s += jump_s
    toy.clock.reboot()
    engine = toy.engine()
    engine.recover()
    left_s = pending_of(engine)["seconds_left"]
    assert 60 - 12 - 6 <= left_s <= 60 - 12, "at most a tenth of the time is charged for the power cut"
    toy.clock.wait(left_s - 0.1)
    engine.tick()
    assert engine.revision == 2
    toy.clock.wait(0.2)
    engine.tick()
    assert (engine.revision, toy.live()) == (3, before)


def test_reboot_after_reboot_the_timer_ends(toy: Router) -> None:
    _, before = unconfirmed(toy)
    up_s = 0.0
    while (engine := toy.engine()).revision == 2:
        engine.recover()
        if engine.pending_confirm() is None:
            break
        assert up_s < 60
        toy.clock.wait(3)
        up_s += 3
        toy.clock.reboot()
    assert (engine.revision, toy.live()) == (3, before)


def test_what_is_left_is_noted_as_time_goes_by(toy: Router) -> None:
    engine, _ = unconfirmed(toy)
    for _ in range(10):
        toy.clock.wait(5)
        engine._committer.confirmation.note()
    toy.clock.reboot()
    again = toy.engine()
    again.recover()
    assert 0 < pending_of(again)["seconds_left"] <= 10


# Backends that are down.


@pytest.mark.parametrize("down", ["plane", "routing"])
def test_what_answers_goes_back_at_once_and_the_rest_when_it_answers(toy: Router, down: str) -> None:
    engine, before = unconfirmed(toy)
    broken, well = (toy.plane, toy.routing) if down == "plane" else (toy.routing, toy.plane)
    broken.up = False
    toy.clock.wait(60)
    engine.tick()
    assert (engine.revision, engine.pending_confirm()) == (3, None)
    assert toy.live()[well.name] == before[well.name]
    assert toy.live()[broken.name] != before[broken.name]
    assert engine.seen.waiting == (broken.name,)
    assert any(broken.name in line and "does not answer" in line for line in engine.seen.drift)
    broken.up = True
    engine.tick()
    assert toy.live() == before
    assert (engine.seen.waiting, engine.seen.drift) == ((), ())


def test_the_keeper_notices_a_backend_that_is_back_also_between_looks_that_are_far_apart(toy: Router) -> None:
    engine = toy.engine(interval_s=3600)
    commit(engine, CONFIRMED)
    before = toy.live()
    commit(engine, UNCONFIRMED, confirm_s=60)
    toy.routing.up = False
    engine.start()
    try:
        toy.clock.wait(60)
        # The keeper sleeps until the end of a timer that this test moves: have it check once.
        engine.tick()
        _wait_until(lambda: engine.seen.waiting == ("frr",))
        toy.routing.up = True
        _wait_until(lambda: toy.live() == before)
        assert toy.live() == before
    finally:
        engine.close()


def test_a_program_that_dies_of_the_commit_starts_on_the_confirmed_revision(toy: Router) -> None:
    """Like FRR: its boot file is written after each commit, and it crashes whenever it has the route."""
    boots_from: dict[str, str] = {}

    def committed(desired: Mapping[str, str]) -> None:
        boots_from.clear()
        boots_from.update(desired)

    def start() -> None:
        toy.routing.restart()
        toy.routing.state.update(boots_from)
        toy.routing.up = "route 203.0.113.0/24" not in toy.routing.state

    toy.routing.committed = committed  # type: ignore[method-assign]  # of this toy alone
    engine, before = unconfirmed(toy)
    _wait_until(lambda: "route 203.0.113.0/24" in boots_from)
    for _ in range(3):
        start()
        engine.tick()
        assert not toy.routing.up
    toy.clock.wait(60)
    engine.tick()
    assert toy.live()["linux"] == before["linux"]
    _wait_until(lambda: "route 203.0.113.0/24" not in boots_from)
    start()
    assert toy.routing.up
    engine.tick()
    assert (engine.revision, toy.live(), engine.seen.waiting) == (3, before, ())


def test_a_step_that_fails_does_not_put_the_unconfirmed_revision_back(toy: Router) -> None:
    engine, before = unconfirmed(toy)
    toy.routing.refuses = "route 198.51.100.0/24"
    toy.clock.wait(60)
    engine.tick()
    assert engine.revision == 3
    assert toy.live()["linux"] == before["linux"]
    assert "route 203.0.113.0/24" not in toy.routing.state
    assert engine.seen.waiting == ("frr",)
    toy.routing.refuses = None
    engine.tick()
    assert toy.live() == before


# The agent's other work at that moment.


def _hanging(toy: Router) -> tuple[threading.Event, threading.Event]:
    """From now on FRR hangs when it is observed: set by the first observation, and ends the hanging."""
    begun, release = threading.Event(), threading.Event()
    observe = toy.routing.observe

    def hang() -> dict[str, str]:
        begun.set()
        assert release.wait(20)
        return observe()

    toy.routing.observe = hang  # type: ignore[method-assign]
    return begun, release


@pytest.mark.parametrize("who", ["nobody", "preview", "keeper"])
def test_a_backend_that_hangs_does_not_keep_the_others(toy: Router, who: str) -> None:
    engine, before = unconfirmed(toy)
    begun, release = _hanging(toy)
    works = {"nobody": None, "preview": lambda: engine.preview(UNCONFIRMED), "keeper": engine.tick}
    work = works[who]
    other = threading.Thread(target=work) if work else None
    try:
        if other is not None:
            other.start()
            assert begun.wait(10)
        toy.clock.wait(60)
        # A tick that finds another one at work ends at once.
        _tick_until(engine, lambda: toy.live()["linux"] == before["linux"])
        assert toy.live()["linux"] == before["linux"]
        assert engine.revision == 3
    finally:
        release.set()
    if other is not None:
        other.join()
    _tick_until(engine, lambda: toy.live() == before)
    assert toy.live() == before


def test_a_preview_that_compiles_for_long_does_not_keep_the_timer(toy: Router) -> None:
    engine, before = unconfirmed(toy)
    begun, release = threading.Event(), threading.Event()

    def slow(config: RouterConfig) -> dict[str, dict[str, Any]]:
        if "lo9" in config.interfaces:
            begun.set()
            assert release.wait(20)
        return compile_toy(config)

    engine._committer.compile = slow
    wanted = document("198.51.100.0/24")
    wanted["interfaces"]["lo9"] = {"type": "loopback"}
    other = threading.Thread(target=engine.preview, args=(wanted,))
    other.start()
    try:
        assert begun.wait(10)
        toy.clock.wait(60)
        engine.tick()
        assert other.is_alive()
        assert (engine.revision, toy.live()) == (3, before)
    finally:
        release.set()
        other.join()


def test_a_rollback_that_takes_long_is_overtaken_by_the_timer(toy: Router) -> None:
    """A user rolls back to revision 1, slowly; the timer of revision 3 ends meanwhile."""
    begun, release = threading.Event(), threading.Event()
    engine = toy.engine()
    commit(engine, CONFIRMED)
    before = toy.live()
    other_way = document("192.0.2.0/25", "192.0.3.0/24")
    commit(engine, other_way)
    commit(engine, UNCONFIRMED, confirm_s=60)

    def slow(index: int, step: Step) -> None:
        begun.set()
        assert release.wait(20)

    engine._committer.live._hook = slow
    results: list[Any] = []
    thread = threading.Thread(
        target=lambda: results.append(engine.rollback(1, CommitOptions(author="bob", confirm_s=600)))
    )
    thread.start()
    assert begun.wait(10)
    toy.clock.wait(60)
    engine.tick()
    release.set()
    thread.join()
    error = results[0].error
    assert error is not None
    assert "was not confirmed in time" in error.message
    engine.tick()
    assert toy.live() == compile_toy(engine._committer.running.prepared.config)
    assert (engine.revision, engine.pending_confirm()) == (4, None)
    assert engine.config()["digest"] == engine.revisions(10)[2].digest, "revision 2 was confirmed last"
    assert toy.live() != before


# Rollbacks with a timer of their own.


def test_a_rollback_with_a_timer_goes_back_to_what_was_confirmed(toy: Router) -> None:
    engine, _ = unconfirmed(toy)
    first = engine.rollback(0, CommitOptions(author="bob", confirm_s=30))
    assert first.state == "done"
    assert (pending_of(engine)["revision"], pending_of(engine)["rollback_to"]) == (3, 1)
    toy.clock.wait(30)
    engine.tick()
    assert _documents_match(engine)
    assert toy.live() == compile_toy(engine._committer.running.prepared.config)


def _die_in_steps(engine: Engine, die: Callable[[], None]) -> None:
    for backend in engine._committer.live.backends:
        apply = backend.apply

        def dying(step: Step, apply: Callable[[Step], None] = apply) -> None:
            die()
            apply(step)

        backend.apply = dying  # type: ignore[method-assign]


@pytest.mark.parametrize("how", ["rollback with a timer", "the timer ends"])
def test_killed_at_each_step_of_a_rollback_it_ends_on_the_confirmed_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    at, over = 0, False
    while not over:
        toy = router(tmp_path / f"state-{at}")
        engine, before = unconfirmed(toy)
        applies = toy.plane.apply, toy.routing.apply
        with monkeypatch.context() as patch:
            dying(patch, at)
            _die_in_steps(engine, partial(durable.remove, toy.directory / "no such file"))
            try:
                if how == "the timer ends":
                    toy.clock.wait(60)
                    engine.tick()
                else:
                    engine.rollback(0, CommitOptions(author="bob", confirm_s=30))
                over = True
            except Killed:
                pass
        toy.plane.apply, toy.routing.apply = applies  # type: ignore[method-assign]
        restarted = toy.engine()
        restarted.recover()
        if how == "rollback with a timer" and not over:
            pending = pending_of(restarted)
            assert (pending["revision"], pending["rollback_to"]) in ((2, 1), (3, 1)), at
        toy.clock.wait(60)
        restarted.tick()
        assert toy.live() == before, at
        assert restarted.pending_confirm() is None
        assert _documents_match(restarted)
        at += 1
    assert at > 6, "steps of a rollback"


def _tick_until(engine: Engine, condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline_s:
        engine.tick()


def _wait_until(condition: Callable[[], bool]) -> None:
    """Give threads ten seconds; the caller asserts the result."""
    deadline_s = time.monotonic() + 10
    while not condition() and time.monotonic() < deadline_s:
        time.sleep(0.02)
