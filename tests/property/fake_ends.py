"""Commits on VPP and FRR in memory that end at each of their steps."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from appliance.config.dump import dump
from appliance.engine.backend import Step, StepError
from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.property.documents import random_document
from tests.property.fake_router import NICS, FakeRouter
from tests.unit.engine.toys import Killed


def documents(router: FakeRouter, seed: int) -> list[dict[str, Any]]:
    """Two that are valid."""
    rng = random.Random(seed)
    return [dump(random_document(rng, router.capabilities(), NICS), "reveal") for _ in range(2)]


def done(result: Any) -> None:
    """It has to be."""
    assert result.state == "done", result.error


def each_step_refused(directory: Path, seed: int) -> None:
    """Each step of a commit is refused once."""
    router = FakeRouter(directory)
    first, second = documents(router, seed)
    fail_at: list[int] = []

    def hook(index: int, step: Step) -> None:
        if fail_at and index == fail_at[0]:
            raise StepError("injected")

    engine = router.engine(hook)
    done(engine.commit(CommitRequest(first, CommitOptions(author="a"))))
    before = router.live()
    steps = engine.preview(second).steps
    for index in range(len(steps)):
        fail_at[:] = [index]
        result = engine.commit(CommitRequest(second, CommitOptions(author="a")))
        assert result.error is not None
        assert (result.error.step, result.error.message) == (steps[index].step.summary, "injected")
        assert result.error.undone
        assert router.live() == before
        assert engine.revision == 1
    fail_at.clear()
    done(engine.commit(CommitRequest(second, CommitOptions(author="a"))))
    engine.close()


def killed_at_steps(directory: Path, seed: int) -> None:
    """The agent is killed at each third step of a commit."""
    router = FakeRouter(directory)
    first, second = documents(router, seed)
    engine = router.engine()
    done(engine.commit(CommitRequest(first, CommitOptions(author="a"))))
    before = router.live()
    steps = len(engine.preview(second).steps)
    for at in range(0, steps, 3):

        def kill(index: int, step: Step, at: int = at) -> None:
            if index == at:
                raise Killed

        dying = router.engine(kill)
        with pytest.raises(Killed):
            dying.commit(CommitRequest(second, CommitOptions(author="a")))
        restarted = router.engine()
        restarted.recover()
        assert restarted.seen.drift == ()
        assert router.live() == before
        assert restarted.revision == 1
        dying.close()
        restarted.close()
    engine.close()
