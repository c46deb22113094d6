"""Each socket that parses a stranger's bytes bears some hundreds of cases; in the soak, 100,000."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import bmp_stream as bmp
from tests import fuzzing
from tests.bgp_index_process import BgpIndex
from tests.fib_feeder import Feeder
from tests.fuzzing import Mutator, endure
from tests.integration.agent.harness import AgentProcess
from tests.integration.fuzz.parts import agent, bgpd, feeder, index, namespace

__all__ = ["agent", "bgpd", "feeder", "index", "namespace"]

_CASES, _SEED = 400, 29
_MORE_BYTES = 32 << 20


@pytest.mark.root
def test_fpm(feeder: Feeder) -> None:
    mutator = Mutator(_SEED, fuzzing.FPM_SEEDS)
    assert endure(fuzzing.FpmTarget(feeder, mutator), mutator, _CASES) < _MORE_BYTES


def test_bmp(index: BgpIndex, bgpd: bmp.Listener) -> None:
    mutator = Mutator(_SEED, fuzzing.BMP_SEEDS)
    assert endure(fuzzing.BmpTarget(index, bgpd, mutator), mutator, _CASES) < _MORE_BYTES


@pytest.mark.root
def test_questions_to_the_feeder(feeder: Feeder) -> None:
    target = fuzzing.LinesTarget(feeder.status_socket, feeder.pid, feeder.status)
    assert endure(target, Mutator(_SEED, fuzzing.QUESTIONS), _CASES) < _MORE_BYTES
    assert target.answers["error"] and target.answers["answer"]


def test_searches(index: BgpIndex, bgpd: bmp.Listener) -> None:
    fuzzing.tell_a_table(index, bgpd)
    target = fuzzing.LinesTarget(index.socket, index.pid, index.status)
    assert endure(target, Mutator(_SEED, fuzzing.SEARCHES), _CASES) < _MORE_BYTES
    assert target.answers["error"] and target.answers["answer"]


def test_who_asks_several_questions_and_ends_is_let_go_when_they_are_answered(index: BgpIndex) -> None:
    """Found by these cases: the index kept the connection for 30 s more."""
    answers = fuzzing.exchange(index.socket, b"status\n" * 17)
    assert answers.count(b"\n") == 17


def test_the_agent(agent: AgentProcess) -> None:
    target = fuzzing.HttpTarget(agent.socket, agent.pid, agent.client.status)
    assert endure(target, Mutator(_SEED, fuzzing.REQUESTS), _CASES) < _MORE_BYTES
    assert target.statuses[200] and target.statuses[400], Path(agent.directory / "agent.log").read_text()
