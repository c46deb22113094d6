"""From any configuration to any other: read-back equals target, nothing is left to do, undo restores."""

from __future__ import annotations

import os
import random
import signal

import pytest

from frr_config import (
    V8_4,
    V10_3,
    FakeFrr,
    Frr,
    FrrConfig,
    FrrUnavailable,
    FrrVersion,
    Step,
    masked_diff,
    plan,
    render,
)
from frr_config.protocols.bfd.augments import has_next_hops
from tests.integration.frr.conftest import INTERFACES, require_frr
from tests.integration.frr.harness import FrrHarness, wait_until
from tests.property.routing_documents import random_routing
from tests.property.vrf_documents import DEFAULT, random_routings

_DOCUMENTS = 200
_UNDO_EVERY = 10


def _walk(frr: Frr, seed: int) -> None:
    rng = random.Random(seed)
    version = frr.version()
    for at in range(_DOCUMENTS):
        desired, before = _drawn(rng, version), frr.observe()
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


def _drawn(rng: random.Random, version: FrrVersion) -> FrrConfig:
    """Every other one has VRFs, among which the interfaces are shared out anew."""
    names = rng.sample(["blue", "red", "v-9"], rng.choice((0, 0, 1, 2, 3)))
    if not names:
        return render(random_routing(rng, INTERFACES, static_bfd=has_next_hops(version)), version)
    vrf_of = {name: rng.choice([DEFAULT, *names]) for name in INTERFACES}
    shared: dict[str, dict[str, list[str]]] = {vrf: {} for vrf in (DEFAULT, *names)}
    for name, vrf in vrf_of.items():
        shared[vrf][name] = INTERFACES[name]
    routing, vrfs = random_routings(rng, shared, static_bfd=has_next_hops(version))
    return render(routing, version, vrfs=vrfs, vrf_of={a: b for a, b in vrf_of.items() if b != DEFAULT})


def _is_now(frr: Frr, wanted: FrrConfig, where: str) -> None:
    observed = frr.observe()
    if observed != wanted:
        difference = "\n".join(masked_diff(wanted, observed))
        pytest.fail(f"{where}\n{difference or 'the same lines in other daemons'}")


def _apply(frr: Frr, steps: tuple[Step, ...]) -> None:
    for step in steps:
        try:
            frr.apply(step)
        except FrrUnavailable as error:
            error.add_note("during: " + "; ".join(command.text for command in step.do))
            raise


@pytest.mark.parametrize("version", [V8_4, V10_3], ids=str)
def test_on_the_fake(version: FrrVersion) -> None:
    _walk(FakeFrr(version), version.major)


@pytest.mark.root
def test_on_real_daemons(empty_router: FrrHarness) -> None:
    try:
        _walk(empty_router.client(), 8)
    except FrrUnavailable as error:
        error.add_note(empty_router.ended())
        raise


@pytest.mark.root
def test_a_daemon_that_ends_during_the_walk_is_named_with_its_log() -> None:
    require_frr()
    name = f"fc-e{os.getpid() % 100000}"
    with FrrHarness(name, name, ("zebra", "ospfd")) as router:
        assert router.ended() == "every daemon is running"
        os.kill(router.pid("ospfd"), signal.SIGSEGV)
        wait_until(lambda: "ospfd ended" in router.ended(), "the end of ospfd")
        assert "Received signal 11" in router.ended()
