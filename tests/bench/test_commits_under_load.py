"""Commits of every kind for which the plan foretells no packet loss, under traffic by memif: none is lost.

::

    agent, FRR, feeder, VPP's main thread                                       CPU 0, with the generator
    memif-traffic -- memif -- VPP's worker -- memif -- memif-traffic           CPU 1, the worker alone

Losses are reported by place, as in test_route_churn.py: refused by a full ring, for which a worker that waits
for its CPU is enough, or dropped by VPP's graph. A stretch without commits comes first. A commit with an
impact other than ``none`` in its plan is not made, and is named.

MILLRACE_COMMITS is how many (100), MILLRACE_COMMITS_PPS the packets a second of both directions (1,000,000).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from appliance.state.commit_options import CommitOptions
from lab.memif_traffic import Trial
from tests.bench.figures import Goal, told
from tests.bench.throughput.routers import FORWARDING_CPU, Millrace
from tests.bench.throughput.scenarios import SCENARIOS
from tests.bench.throughput.steady_router import started
from tests.bench.throughput.witness import read

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_COMMITS = int(os.environ.get("MILLRACE_COMMITS", "100"))
_PPS = float(os.environ.get("MILLRACE_COMMITS_PPS", "1000000"))
_STRETCH_S = 5.0
_QUIET_S = 10.0
_FORWARD = next(one for one in SCENARIOS if one.id == "fwd-v4")

Document = dict[str, Any]


def _access_list(turn: int) -> Document:
    rules = {"10": {"action": "deny", "source": f"198.51.100.{turn}/32"}, "20": {"action": "permit"}}
    return {"acls": {"elsewhere": {"rules": rules}}}


def _rule_in_use(turn: int) -> Document:
    """On an interface that carries the packets, but does not concern them."""
    rules = {"10": {"action": "deny", "source": f"198.51.101.{turn}/32"}, "20": {"action": "permit"}}
    return {"acls": {"used": {"rules": rules}}}


def _static_route(turn: int) -> Document:
    return {"routing": {"static": {f"100.64.{turn}.0/24": {"next_hops": [{"address": "200.0.0.2"}]}}}}


def _prefix_list(turn: int) -> Document:
    entries = {str(10 * (turn + 1)): {"action": "permit", "prefix": f"100.65.{turn}.0/24"}}
    return {"routing": {"policy": {"prefix_lists": {"SPARE": {"rules": entries}}}}}


def _route_map(turn: int) -> Document:
    rule = {"action": "permit", "set": {"local_preference": 100 + turn}}
    return {"routing": {"policy": {"route_maps": {"SPARE": {"rules": {"10": rule}}}}}}


def _neighbor(turn: int) -> Document:
    neighbor = {
        "remote_asn": 64999,
        "ebgp_multihop": 5,
        "timers": {"keepalive_s": 10 + turn, "hold_s": 60 + 3 * turn},
        "ipv4_unicast": {},
    }
    bgp = {"asn": 65000, "router_id": "10.255.0.1", "neighbors": {"198.51.100.254": neighbor}}
    return {"routing": {"bgp": bgp}}


def _loopback(turn: int) -> Document:
    return {"interfaces": {f"lo{turn + 10}": {"type": "loopback", "addresses": [f"100.66.{turn}.1/32"]}}}


def _memif(turn: int) -> Document:
    memif = {
        "type": "memif",
        "role": "master",
        "socket": "spare",
        "id": turn,
        "addresses": [f"100.67.{turn}.1/30"],
    }
    return {"interfaces": {f"m{turn}": memif}}


def _tunnel(turn: int) -> Document:
    tunnel = {"type": "gre", "source": "200.0.0.1", "destination": f"100.68.{turn}.1"}
    return {"interfaces": {f"tunnel{turn}": tunnel}}


def _description(turn: int) -> Document:
    return {"interfaces": {"left": {"description": f"turn {turn}"}}}


def _host_name(turn: int) -> Document:
    return {"system": {"hostname": f"router-{turn}"}}


_KINDS: tuple[Callable[[int], Document], ...] = (
    _access_list, _rule_in_use, _static_route, _prefix_list, _route_map, _neighbor,
    _loopback, _memif, _tunnel, _description, _host_name,
)  # fmt: skip


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> Document:
    found = dict(below)
    for key, value in above.items():
        known = found.get(key)
        found[key] = _merged(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return found


@pytest.fixture
def router() -> Iterator[Millrace]:
    """Millrace with its forwarding CPU to itself."""
    with started() as router:
        yield router


class _Commits:
    """One commit after the other, from a thread of its own."""

    def __init__(self, router: Millrace, document: Document) -> None:
        self._router, self._document = router, document
        self.made_ms: list[float] = []
        self.foretold: dict[str, list[str]] = {}
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def under_way(self) -> bool:
        """Whether some are still to be made."""
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            for number in range(_COMMITS):
                kind = _KINDS[number % len(_KINDS)]
                self._make(kind.__name__.strip("_"), _merged(self._document, kind(number // len(_KINDS))))
        except Exception as error:
            self.error = error

    def _make(self, kind: str, document: Document) -> None:
        client = self._router.client
        plan = client.plan(self._router.document(document))
        if plan.impacts:
            self.foretold[kind] = plan.impacts
            return
        began_s = time.perf_counter()
        client.commit(self._router.document(document), CommitOptions(author="bench", comment=kind))
        self.made_ms.append((time.perf_counter() - began_s) * 1000)
        self._document = document


def _lost(name: str, trials: list[Trial], drops: Mapping[str, int]) -> tuple[int, int]:
    """Print where packets were lost; returns how many in all, and how many VPP's graph dropped."""
    offered, refused = sum(one.offered for one in trials), sum(one.refused for one in trials)
    arrived = sum(one.received - one.foreign for one in trials)
    not_fetched = sum(count for what, count in drops.items() if "no free tx slots" in what.lower())
    dropped = offered - refused - arrived - not_fetched
    print(
        f"{name}: {offered:,} offered, {offered - arrived:,} lost: {refused:,} refused, {not_fetched:,} not"
        f" fetched, {dropped:,} dropped"
    )
    return offered - arrived, dropped


@pytest.mark.timeout(1800)
def test_commits_under_load(router: Millrace) -> None:
    with ExitStack() as stack:
        stack.enter_context(router.running())
        document = _merged(_rule_in_use(0), {"interfaces": {"left": {"acl_in": ["used"]}}})
        router.commit(document)
        router.offer(_FORWARD.streams)
        stack.callback(router.hush)
        print(f"\n{_PPS:,.0f} packets a second, VPP's worker on CPU {FORWARDING_CPU}")

        earlier = read(router, {})
        quiet = [router.steady(_PPS, _QUIET_S)]
        _lost("no commits", quiet, read(router, {}).since(earlier).drops)

        commits, trials = _Commits(router, document), list[Trial]()
        earlier = read(router, {})
        commits.start()
        while commits.under_way:
            trials.append(router.steady(_PPS, _STRETCH_S))
        seen = read(router, {}).since(earlier)
        lost, dropped = _lost(f"{len(commits.made_ms)} commits", trials, seen.drops)
        print(
            f"the worker waited {seen.worker_waited_s * 1000:.1f} ms for its CPU, VPP's main thread"
            f" {seen.main_waited_s * 1000:.0f} ms; VPP's counts of errors: {dict(seen.drops)}"
        )
        for kind, impacts in commits.foretold.items():
            print(f"not made, {kind}: {'; '.join(impacts)}")
        told("a commit under load", commits.made_ms, "ms")
        told("packets lost in commits of which the plan said none", [lost], "packets", Goal("most", 0))
        told("of them dropped by VPP's graph", [dropped], "packets", Goal("most", 0))
        assert commits.error is None
        assert len(commits.made_ms) >= _COMMITS // 2
        assert sum(one.received for one in trials) > 0
