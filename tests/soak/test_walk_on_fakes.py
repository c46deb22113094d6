"""The whole walk over the router in memory, of which `make test` takes the beginning."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.engine import keeper
from tests.property.fake_ends import each_step_refused, killed_at_steps
from tests.property.fake_walk import walk

DOCUMENTS = 200
PLANS = 20


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No fake fails to answer: one that takes a second does so because the machine is busy."""
    monkeypatch.setattr(keeper, "_QUICK_S", 60.0)


def test_a_walk_over_two_hundred_random_documents(tmp_path: Path) -> None:
    walk(tmp_path, DOCUMENTS)


@pytest.mark.parametrize("seed", range(PLANS))
def test_each_step_of_a_commit_refused(tmp_path: Path, seed: int) -> None:
    each_step_refused(tmp_path, seed)


@pytest.mark.parametrize("seed", range(500, 500 + PLANS))
def test_killed_at_steps_of_a_commit(tmp_path: Path, seed: int) -> None:
    killed_at_steps(tmp_path, seed)
