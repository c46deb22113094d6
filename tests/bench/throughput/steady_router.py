"""Millrace for long-lasting loads, on two CPUs: one is only for its worker, everything else shares the
other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests import requirements
from tests.bench.throughput.routers import SENDER_CPU, Millrace
from tests.bench.throughput.urgency import threads
from tests.bench.throughput.witness import keep_on

_FIRST_NICE = -13
"""Of VPP and the feeder, as in the lab."""


class SteadyRouter(Millrace):
    """With rings that hold the packets that arrive while another process has the worker's CPU, which is
    the machine's doing.
    """

    log2_ring = 14


@contextmanager
def started(kind: type[SteadyRouter] = SteadyRouter) -> Iterator[SteadyRouter]:
    """It runs in the block. Skips the test where the machine lacks something."""
    requirements.require_root_netns()
    requirements.require_vpp()
    requirements.require_rustc()
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU forwards and another one does the rest: this machine has one")
    before = os.sched_getaffinity(0)
    router = kind()
    try:
        others = [router.frr.pid(name) for name in ("bgpd", "zebra")]
        keep_on(SENDER_CPU, [os.getpid(), router.agent_pid, router.feeder.pid, *others])
        for thread in threads(router.vpp.pid, "vpp_") + threads(router.feeder.pid):
            os.setpriority(os.PRIO_PROCESS, thread, _FIRST_NICE)
        yield router
    finally:
        os.sched_setaffinity(0, before)
        router.close()
