"""A failure after any step of a plan leaves the router exactly as it was, on real backends."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.config.dump import dump
from appliance.engine.backend import Step
from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.property.documents import random_document
from tests.real_router import RealRouter

pytestmark = [pytest.mark.integration, pytest.mark.root, pytest.mark.timeout(900)]

PLANS = 5
SEED = 3628
STEPS_TRIED = {"linux": 8, "vpp": 4}
"""Steps of each plan, including its first and last; more are tried on the fakes, which take no time."""


class Injected(Exception):
    """The failure that a test requested."""


class FailAfter:
    """Fails after the step of this index; None lets all pass."""

    def __init__(self) -> None:
        self.index: int | None = None

    def __call__(self, index: int, step: Step) -> None:
        if index == self.index:
            raise Injected(f"injected after step {index}")


def test_prior_state_is_restored_and_the_step_is_named(
    make_router: Callable[[Path], RealRouter], tmp_path: Path
) -> None:
    router = make_router(tmp_path)
    fail = FailAfter()
    engine = router.engine(fail)
    engine.recover()
    rng = random.Random(SEED)
    tried = 0
    for number in range(PLANS):
        document = dump(random_document(rng, engine.capabilities, router.nics), "reveal")
        before, revision = router.observe(), engine.revision
        steps = [planned.step.summary for planned in engine.preview(document).steps]
        for index in _some(rng, len(steps), STEPS_TRIED[router.dataplane.name]):
            fail.index = index
            result = engine.commit(
                CommitRequest(
                    document, CommitOptions(author="injector", comment=f"plan {number}, step {index}")
                )
            )
            where = f"plan {number}, after step {index} of {len(steps)}: {steps[index]}"
            assert result.state == "failed" and result.error is not None, where
            assert result.error.step == steps[index], where
            assert result.error.undone, where
            assert router.observe() == before, where
            assert engine.revision == revision, where
            tried += 1
        fail.index = None
        assert (
            engine.commit(
                CommitRequest(document, CommitOptions(author="injector", comment=f"plan {number}"))
            ).state
            == "done"
        )
    assert tried > PLANS
    assert engine.rollback(0, CommitOptions(author="injector")).state == "done"
    engine.close()


def _some(rng: random.Random, steps: int, most: int) -> list[int]:
    """Every step of a short plan; of a long one the first, the last and some in between."""
    if steps <= most:
        return list(range(steps))
    return sorted({0, steps - 1, *rng.sample(range(steps), most - 2)})
