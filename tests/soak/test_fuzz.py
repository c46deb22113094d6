"""100,000 mutated messages to each socket that parses a stranger's bytes: no crash, no growth.

MILLRACE_SEED makes the same ones again; MILLRACE_ROUNDS is how many thousands are sent (default 100).
"""

from __future__ import annotations

import pytest

from tests import bmp_stream as bmp
from tests import fuzzing
from tests.bgp_index_process import BgpIndex
from tests.fib_feeder import Feeder
from tests.fuzzing import Mutator, Target, endure
from tests.integration.agent.harness import AgentProcess
from tests.integration.fuzz.parts import agent, bgpd, feeder, index, namespace
from tests.soak.options import options

__all__ = ["agent", "bgpd", "feeder", "index", "namespace"]

pytestmark = [pytest.mark.soak, pytest.mark.timeout(0)]

_THOUSANDS = 100
_MORE_BYTES = 16 << 20
"""What an allocator keeps in pieces. A leak of one case in ten would be more, from 1.6 KiB each."""


def _bears(target: Target, mutator: Mutator) -> None:
    count = 1000 * len(options(_THOUSANDS).rounds)
    more = endure(target, mutator, count)
    print(f"{type(target).__name__}: {count:,} cases, the second half added {more >> 10:,} KiB", flush=True)
    assert more < _MORE_BYTES


def _mutator(seeds: list[bytes]) -> Mutator:
    seed = options().seed
    print(f"\nMILLRACE_SEED={seed}", flush=True)
    return Mutator(seed, seeds)


@pytest.mark.root
def test_fpm(feeder: Feeder) -> None:
    mutator = _mutator(fuzzing.FPM_SEEDS)
    _bears(fuzzing.FpmTarget(feeder, mutator), mutator)


def test_bmp(index: BgpIndex, bgpd: bmp.Listener) -> None:
    mutator = _mutator(fuzzing.BMP_SEEDS)
    _bears(fuzzing.BmpTarget(index, bgpd, mutator), mutator)


@pytest.mark.root
def test_questions_to_the_feeder(feeder: Feeder) -> None:
    target = fuzzing.LinesTarget(feeder.status_socket, feeder.pid, feeder.status)
    _bears(target, _mutator(fuzzing.QUESTIONS))


def test_searches(index: BgpIndex, bgpd: bmp.Listener) -> None:
    fuzzing.tell_a_table(index, bgpd)
    target = fuzzing.LinesTarget(index.socket, index.pid, index.status)
    _bears(target, _mutator(fuzzing.SEARCHES))


def test_the_agent(agent: AgentProcess) -> None:
    target = fuzzing.HttpTarget(agent.socket, agent.pid, agent.client.status)
    _bears(target, _mutator(fuzzing.REQUESTS))
    print(dict(target.statuses), flush=True)
