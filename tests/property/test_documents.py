"""The generator's documents are valid, differ, are reproducible, and survive being written and read."""

from __future__ import annotations

import random

import pytest

from appliance.compile import CompileContext, compile_document
from appliance.config.capabilities import Capabilities
from appliance.config.diff import diff_documents
from appliance.config.dump import dump, dumps
from appliance.config.load import parse_document
from appliance.config.merge import merge
from appliance.config.validate import check
from appliance.dataplane.linux.plan import plan
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.nic import Nic
from tests.property.documents import random_document

NICS = tuple(Nic(f"nic{number}", f"02:4d:52:00:01:0{number}") for number in range(4))
CAPABILITIES = Capabilities("linux", nic_drivers=("auto",), max_reflecting_interfaces=32)
SEEDS = range(100)


def document(seed: int) -> object:
    """The document of this seed."""
    return random_document(random.Random(seed), CAPABILITIES, NICS)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_valid_and_reads_back(seed: int) -> None:
    config = random_document(random.Random(seed), CAPABILITIES, NICS)
    assert check(config, CAPABILITIES) == []
    assert parse_document(dumps(config, "reveal")) == config
    assert document(seed) == config


def test_they_differ() -> None:
    assert len({dumps(random_document(random.Random(seed), CAPABILITIES, NICS)) for seed in SEEDS}) > 95


def test_each_plan_leads_to_what_was_wanted_and_back() -> None:
    before = LinuxState.of(())
    for seed in SEEDS:
        config = random_document(random.Random(seed), CAPABILITIES, NICS)
        after = compile_document(config, "linux", CompileContext(NICS))["linux"]
        state: dict[str, object] = dict(before)
        steps = plan(after, before)
        for step in steps:
            state = {**state, step.key: step.after} if step.after else _without(state, step.key)
        assert state == dict(after)
        for step in reversed(steps):
            state = {**state, step.key: step.before} if step.before else _without(state, step.key)
        assert state == dict(before)
        assert plan(after, after) == []
        before = after


def _without(state: dict[str, object], key: str) -> dict[str, object]:
    return {known: item for known, item in state.items() if known != key}


def test_a_merge_with_oneself_and_with_nothing_is_what_was_there() -> None:
    for seed in range(40):
        one = dump(random_document(random.Random(seed), CAPABILITIES, NICS), "reveal")
        other = dump(random_document(random.Random(seed + 1000), CAPABILITIES, NICS), "reveal")
        assert merge(one, one, other).document == other
        assert merge(one, other, one).document == other
        assert merge(one, other, other).conflicts == ()
        assert diff_documents(one, one) == []
        assert bool(diff_documents(one, other)) == (one != other)
