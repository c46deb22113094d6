"""Route updates at a steady rate under traffic for other routes: what is lost, and how far VPP is behind.

::

    a BGP neighbor -- bgpd -- zebra -- FPM -- feeder -- VPP's main thread      CPU 0, with the generator
    memif-traffic -- memif -- VPP's worker -- memif -- memif-traffic           CPU 1, the worker alone

Half of NDR is offered, searched in the same run, or less where a sender that shares its CPU does not send so
much. A stretch without updates comes first, as long as the one with them. A packet is lost in one of three
places, counted apart: it finds the ring to the router full, as the worker did not fetch (``refused``); the
generator did not fetch what came back (``not fetched``); or VPP's graph drops it (``dropped``). A worker does
not fetch while it waits for its CPU, which is told, or while VPP's main thread holds it to change a table.
Goals: nothing lost for routes that do not change, the feeder's lag p99 <= 100 ms.

MILLRACE_CHURN_PS is how many updates a second (10,000), MILLRACE_CHURN_S for how long (60),
MILLRACE_CHURN_QUIET_S how long without (as long), MILLRACE_CHURN_PPS the traffic, without a search for NDR
and so without precedence over what else the machine does. MILLRACE_CHURN_SCENARIO is what the router does
(fwd-v4): with one that costs more a packet, as acl-10000 and nat-100000, NDR is lower, and a sender that
shares its CPU sustains half of it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import pytest

from appliance.bench.search import Measured, rounds, search
from lab.memif_traffic import Trial
from tests.bench.figures import Goal, told
from tests.bench.throughput.route_churn import PREFIXES, Churn, neighbor, zebra_played
from tests.bench.throughput.routers import FORWARDING_CPU, Millrace
from tests.bench.throughput.scenarios import SCENARIOS
from tests.bench.throughput.steady_router import SteadyRouter, started
from tests.bench.throughput.witness import Readings, read

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_RATE_PS = int(os.environ.get("MILLRACE_CHURN_PS", "10000"))
_SECONDS = float(os.environ.get("MILLRACE_CHURN_S", "60"))
_QUIET_S = float(os.environ.get("MILLRACE_CHURN_QUIET_S", str(_SECONDS)))
_PPS = float(os.environ.get("MILLRACE_CHURN_PPS", "0"))
_SCENARIO = next(one for one in SCENARIOS if one.id == os.environ.get("MILLRACE_CHURN_SCENARIO", "fwd-v4"))
_STRETCH_S = 10.0
_SAMPLE_S = 0.05
_SETTLED_S = 60.0
_SUSTAINED_LOSS = 0.0005
_MODES: dict[str, Callable[[Millrace, int, Mapping[str, Any]], AbstractContextManager[Churn]]] = {
    "bgp": neighbor,
    "fpm": zebra_played,
}


class _Router(SteadyRouter):
    def priorities(self) -> Mapping[int, int]:
        """None where no trial of the search needs them."""
        return {} if _PPS else super().priorities()


@pytest.fixture
def router() -> Iterator[Millrace]:
    """Millrace with its forwarding CPU to itself."""
    with started(_Router) as router:
        yield router


def _others(router: Millrace) -> dict[str, int]:
    """Processes whose CPU time is reported, while they run."""
    return {"feeder": router.feeder.pid, "bgpd": router.frr.pid("bgpd"), "zebra": router.frr.pid("zebra")}


class _Lag:
    """The feeder's own reports, polled throughout."""

    def __init__(self, router: Millrace) -> None:
        self._feeder = router.feeder
        self.behind_ms: list[float] = []
        self.pending: list[float] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Polls it from now on, until the block ends."""
        stop = threading.Event()

        def watch() -> None:
            while not stop.wait(_SAMPLE_S):
                status = self._feeder.status()
                self.behind_ms.append(status["behind_ms"])
                self.pending.append(status["pending"])

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def _rate(router: Millrace) -> float:
    """Packets a second: half of NDR, halved until the sender sustains it."""
    if _PPS:
        return _PPS
    measured = {router.name: Measured()}
    rounds([router], measured, 5, 0.2)
    search([router], measured)
    ndr = measured[router.name].ndr_pps or 0.0
    assert ndr > 0, "no rate without a loss was found"
    pps = ndr / 2
    while (trial := router.steady(pps, 2)).loss > _SUSTAINED_LOSS and pps > ndr / 64:
        pps /= 2
    print(f"NDR {ndr / 1e6:.2f} Mpps; offered {pps / 1e6:.2f} Mpps, {pps / ndr:.0%}; lost {trial.loss:.3%}")
    return pps


def _stretches(router: Millrace, pps: float, seconds: float) -> list[Trial]:
    """One after the other, so that the number of those with losses is known."""
    made, left_s = [], seconds
    while left_s > 0.01:
        made.append(router.steady(pps, min(_STRETCH_S, left_s)))
        left_s -= _STRETCH_S
    return made


def _report(name: str, trials: list[Trial], seen: Readings, seconds: float) -> int:
    """Print where packets were lost, and return how many VPP's graph dropped."""
    offered, refused = sum(one.offered for one in trials), sum(one.refused for one in trials)
    arrived = sum(one.received - one.foreign for one in trials)
    lossy = sum(one.received - one.foreign < one.offered for one in trials)
    not_fetched = sum(count for what, count in seen.drops.items() if "no free tx slots" in what.lower())
    dropped = offered - refused - arrived - not_fetched
    print(
        f"{name}: {offered:,} offered in {seconds:.0f} s, {offered - arrived:,} lost in {lossy} of"
        f" {len(trials)} stretches: {refused:,} refused, {not_fetched:,} not fetched, {dropped:,} dropped"
    )
    stalled_s, longest_s = sum(one.stalled_s for one in trials), max(one.longest_stall_s for one in trials)
    print(
        f"{name}: the worker waited {seen.worker_waited_s * 1000:.1f} ms for its CPU, VPP's main thread"
        f" {seen.main_waited_s * 1000:.0f} ms; the sender did not run for {stalled_s:.2f} s"
        f" (longest {longest_s * 1000:.1f} ms)"
    )
    print(f"{name}: CPU " + ", ".join(f"{who} {cpu / seconds:.0%}" for who, cpu in seen.cpu_s.items()))
    print(f"{name}: VPP's counts of errors: {dict(seen.drops)}", flush=True)
    return dropped


def _in_vpp(status: dict[str, Any]) -> int:
    return int(status["vpp"]["given"]) + int(status["vpp"]["taken"])


def _share_within(before: dict[str, Any], after: dict[str, Any], most_ms: int) -> float:
    """Share of the feeder's readings whose changes were in VPP within that time."""
    bounds = after["lag"]["bounds_ms"]
    counts: list[int] = [b - a for a, b in zip(before["lag"]["counts"], after["lag"]["counts"], strict=True)]
    within: int = sum(counts[: bounds.index(most_ms) + 1])
    return within / max(1, sum(counts))


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("mode", list(_MODES))
def test_updates_under_traffic(mode: str, router: Millrace) -> None:
    with ExitStack() as stack:
        stack.enter_context(router.running())
        print(f"\n{mode}: {_RATE_PS:,} updates a second of {PREFIXES:,} prefixes for {_SECONDS:g} s,"
              f" {_SCENARIO.title}; VPP's worker on CPU {FORWARDING_CPU}")  # fmt: skip
        router.commit(_SCENARIO.document)
        router.offer(_SCENARIO.streams)
        stack.callback(router.hush)
        pps = _rate(router)
        churn = stack.enter_context(_MODES[mode](router, _RATE_PS, _SCENARIO.document))
        pids = _others(router) if mode == "bgp" else {"feeder": router.feeder.pid}
        router.feeder.barrier()
        held = router.feeder.status()["ipv4"]["in_vpp"]

        if _QUIET_S:
            earlier = read(router, pids)
            quiet = _stretches(router, pps, _QUIET_S)
            _report(f"{mode}, no updates", quiet, read(router, pids).since(earlier), _QUIET_S)

        lag, before = _Lag(router), router.feeder.status()
        earlier, began_s = read(router, pids), time.monotonic()
        with churn.running(), lag.watched():
            trials = _stretches(router, pps, _SECONDS)
            took_s, after, seen = time.monotonic() - began_s, router.feeder.status(), read(router, pids)
        dropped = _report(f"{mode}, updates", trials, seen.since(earlier), took_s)
        came = (_in_vpp(after) - _in_vpp(before)) / took_s
        print(
            f"{mode}: {churn.sent / took_s:,.0f} updates a second sent, at most"
            f" {churn.late_s * 1000:.0f} ms late; {came:,.0f} a second came to VPP;"
            f" {_share_within(before, after, 100):.2%} of the feeder's readings were in VPP within 100 ms"
        )
        told(f"{mode}: dropped by VPP's graph, for unchanged prefixes", [dropped], "packets", Goal("most", 0))
        told(f"{mode}: the feeder's lag", lag.behind_ms, "ms", Goal("p99", 100))
        told(f"{mode}: changes that VPP did not have yet", lag.pending, "")

        ends_s = time.monotonic() + _SETTLED_S
        while (status := router.feeder.status())["pending"] or status["ipv4"]["in_vpp"] > held:
            assert time.monotonic() < ends_s, f"the routes did not go: {status}"
            time.sleep(0.1)
        assert status["vpp"]["refused"] == 0
        assert came > 0
        assert sum(trial.received for trial in trials) > 0
