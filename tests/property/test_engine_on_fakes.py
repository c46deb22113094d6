"""The engine over random documents on VPP and FRR in memory: every step refused once, every step the last
one once.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from appliance.config.dump import dump
from appliance.engine import keeper
from appliance.engine.backend import Step, StepError
from appliance.engine.records import CommitRequest
from tests.property.documents import random_document
from tests.property.fake_router import NICS, FakeRouter
from tests.property.fake_walk import walk
from tests.unit.engine.toys import Killed

WALK = 40
PLANS = 20


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the fakes ever fails to answer: one that takes a second does so because the machine is busy."""
    monkeypatch.setattr(keeper, "_QUICK_S", 60.0)


def _documents(router: FakeRouter, seed: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [dump(random_document(rng, router.capabilities(), NICS), "reveal") for _ in range(2)]


def _done(result: Any) -> None:
    assert result.state == "done", result.error


def test_a_walk_over_random_documents(tmp_path: Path) -> None:
    """A share; `make soak` takes two hundred documents (tests/soak/test_walk_on_fakes.py)."""
    walk(tmp_path, WALK)


@pytest.mark.parametrize("number", range(PLANS))
def test_a_failure_after_any_step_restores_the_state_and_names_the_step(tmp_path: Path, number: int) -> None:
    router = FakeRouter(tmp_path)
    first, second = _documents(router, number)
    fail_at: list[int] = []

    def hook(index: int, step: Step) -> None:
        if fail_at and index == fail_at[0]:
            raise StepError("injected")

    engine = router.engine(hook)
    _done(engine.commit(CommitRequest(first, "a")))
    before = router.live()
    steps = engine.preview(second).steps
    for index in range(len(steps)):
        fail_at[:] = [index]
        result = engine.commit(CommitRequest(second, "a"))
        assert result.error is not None
        assert (result.error.step, result.error.message) == (steps[index].step.summary, "injected")
        assert result.error.undone
        assert router.live() == before
        assert engine.revision == 1
    fail_at.clear()
    _done(engine.commit(CommitRequest(second, "a")))
    engine.close()


@pytest.mark.parametrize("number", range(PLANS))
def test_killed_after_any_step_the_next_start_restores_the_last_revision(tmp_path: Path, number: int) -> None:
    router = FakeRouter(tmp_path)
    first, second = _documents(router, 500 + number)
    engine = router.engine()
    _done(engine.commit(CommitRequest(first, "a")))
    before = router.live()
    steps = len(engine.preview(second).steps)
    for at in range(0, steps, 3):

        def kill(index: int, step: Step, at: int = at) -> None:
            if index == at:
                raise Killed

        dying = router.engine(kill)
        with pytest.raises(Killed):
            dying.commit(CommitRequest(second, "a"))
        restarted = router.engine()
        restarted.recover()
        assert restarted.seen.drift == ()
        assert router.live() == before
        assert restarted.revision == 1
        dying.close()
        restarted.close()
    engine.close()


@pytest.mark.parametrize("number", range(5))
def test_vpp_and_frr_that_lose_everything_get_it_back(tmp_path: Path, number: int) -> None:
    router = FakeRouter(tmp_path)
    first, _ = _documents(router, 900 + number)
    first["system"] = {**first.get("system", {}), "drift_policy": "report"}
    engine = router.engine()
    _done(engine.commit(CommitRequest(first, "a")))
    engine.tick()
    before = router.live()
    router.vpp.restart()
    engine.tick()
    engine.tick()
    assert router.live() == before
    router.frr.kill("bgpd")
    engine.tick()
    assert engine.seen.health["frr"]["state"] == "down"
    result = engine.commit(CommitRequest({"schema_version": 1}, "a"))
    assert result.error is not None
    assert result.error.kind == "unavailable"
    router.frr.start("bgpd")
    engine.tick()
    assert router.live() == before
    assert engine.seen.drift == ()
    engine.close()
