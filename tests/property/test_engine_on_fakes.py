"""The engine over random documents on VPP and FRR in memory: every step refused once, every step the last
one once.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.engine import keeper
from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.property.fake_ends import documents, done, each_step_refused, killed_at_steps
from tests.property.fake_router import FakeRouter
from tests.property.fake_walk import walk

WALK = 40
PLANS = 3
"""`make soak` takes twenty (tests/soak/test_walk_on_fakes.py)."""


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the fakes ever fails to answer: one that takes a second does so because the machine is busy."""
    monkeypatch.setattr(keeper, "_QUICK_S", 60.0)


def test_a_walk_over_randomdocuments(tmp_path: Path) -> None:
    """A share; `make soak` takes two hundred documents (tests/soak/test_walk_on_fakes.py)."""
    walk(tmp_path, WALK)


@pytest.mark.parametrize("number", range(PLANS))
def test_a_failure_after_any_step_restores_the_state_and_names_the_step(tmp_path: Path, number: int) -> None:
    each_step_refused(tmp_path, number)


@pytest.mark.parametrize("number", range(PLANS))
def test_killed_after_any_step_the_next_start_restores_the_last_revision(tmp_path: Path, number: int) -> None:
    killed_at_steps(tmp_path, 500 + number)


@pytest.mark.parametrize("number", range(5))
def test_vpp_and_frr_that_lose_everything_get_it_back(tmp_path: Path, number: int) -> None:
    router = FakeRouter(tmp_path)
    first, _ = documents(router, 900 + number)
    first["system"] = {**first.get("system", {}), "drift_policy": "report"}
    engine = router.engine()
    done(engine.commit(CommitRequest(first, CommitOptions(author="a"))))
    engine.tick()
    before = router.live()
    router.vpp.restart()
    engine.tick()
    engine.tick()
    assert router.live() == before
    router.frr.kill("bgpd")
    engine.tick()
    assert engine.seen.health["frr"]["state"] == "down"
    result = engine.commit(CommitRequest({"schema_version": 1}, CommitOptions(author="a")))
    assert result.error is not None
    assert result.error.kind == "unavailable"
    router.frr.start("bgpd")
    engine.tick()
    assert router.live() == before
    assert engine.seen.drift == ()
    engine.close()
