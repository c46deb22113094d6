"""From any configuration to any other: read-back equals target, nothing is left to do, undo restores."""

from __future__ import annotations

import random

import pytest

from frr_config import V8_4, V10_3, FakeFrr, Frr, FrrConfig, FrrVersion, Step, masked_diff, plan, render
from tests.integration.frr.conftest import INTERFACES
from tests.integration.frr.harness import FrrHarness
from tests.property.routing_documents import random_routing

_DOCUMENTS = 200
_UNDO_EVERY = 10


def _walk(frr: Frr, seed: int) -> None:
    rng = random.Random(seed)
    version = frr.version()
    for at in range(_DOCUMENTS):
        routing = random_routing(rng, INTERFACES, static_bfd=version.has_static_bfd)
        desired, before = render(routing, version), frr.observe()
        steps = plan(desired, before)
        _apply(frr, steps)
        _is_now(frr, desired, f"seed {seed}, document {at}")
        assert plan(desired, frr.observe()) == ()
        if at % _UNDO_EVERY == 0:
            for step in reversed(steps):
                frr.undo(step)
            _is_now(frr, before, f"undoing seed {seed}, document {at}")
            _apply(frr, steps)
            _is_now(frr, desired, f"doing again seed {seed}, document {at}")


def _is_now(frr: Frr, wanted: FrrConfig, where: str) -> None:
    observed = frr.observe()
    if observed != wanted:
        difference = "\n".join(masked_diff(wanted, observed))
        pytest.fail(f"{where}\n{difference or 'the same lines in other daemons'}")


def _apply(frr: Frr, steps: tuple[Step, ...]) -> None:
    for step in steps:
        frr.apply(step)


@pytest.mark.parametrize("version", [V8_4, V10_3], ids=str)
def test_on_the_fake(version: FrrVersion) -> None:
    _walk(FakeFrr(version), version.major)


@pytest.mark.root
def test_on_real_daemons(empty_router: FrrHarness) -> None:
    _walk(empty_router.client(), 8)
