"""Benches on a real VPP: a result, and no remains, even when the generator or the agent is killed.

Judged by VPP's state and by counts. Rates depend on the machine, and no test judges them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from appliance.bench import rig
from appliance.bench.benches import Benches
from appliance.bench.trials import Lengths
from appliance.engine.clock import SystemClock
from appliance.engine.turns import Turn, Turns
from appliance.errors import Conflict
from appliance.state.benches import BenchState, BenchWanted, ScenarioName
from lab.memif_traffic import build
from tests.integration.linux.conftest import DOCUMENT, run
from tests.integration.vpp.harness import PrivateVpp
from tests.integration.vpp_dataplane.conftest import Router
from vpp_config.fib import fib_counts

pytestmark = [pytest.mark.vpp, pytest.mark.root]

_WANTED = BenchWanted(scenario="imix", anyway=True)
_SHORT = Lengths(rounds=3, round_s=0.1, trials_s=6.0, quiet_s=0.2)
_LONG = Lengths(rounds=40, round_s=0.1, trials_s=12.0, quiet_s=0.2)


def _made(
    router: Router,
    folder: Path,
    lengths: Lengths,
    turns: Turns | None = None,
    lend: Callable[[int], AbstractContextManager[None]] | None = None,
) -> Benches:
    program = build(Path("/tmp/millrace-memif-traffic"))
    return Benches(
        folder,
        router.backend,
        turns or Turns(),
        lambda: "",
        lambda: frozenset([2**32 - 2]),
        program,
        lengths,
        lend,
    )


@pytest.fixture
def benches(router: Router, tmp_path: Path) -> Iterator[Benches]:
    made = _made(router, tmp_path / "benches", _LONG)
    yield made
    made.close()


def _remains(router: Router) -> int:
    return router.backend.look(vpp=lambda vpp: rig.remains(vpp.client), linux=lambda _: -1)


def _mirrors(router: Router) -> list[str]:
    """Links of the mirrors' namespace, and VPP's pairs."""
    links = run(router.middle, "ip", "-o", "link").stdout.splitlines()
    pairs = router.backend.look(vpp=lambda vpp: len(vpp.client.dump("lcp_itf_pair_get")), linux=lambda _: 0)
    return [*(line.split(":")[1] for line in links), str(pairs)]


def _when(benches: Benches, condition: str) -> BenchState:
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        state = benches.all()[0]
        if (state.state != "running") if condition == "ended" else state.trials > 0:
            return state
        time.sleep(0.02)
    raise AssertionError(f"not {condition}: {benches.all()[0]}")


def _is_as_before(router: Router) -> None:
    assert _remains(router) == 0
    assert router.steps(DOCUMENT) == []
    router.wait_until_neighbors_are_known()


def test_a_bench_counts_packets_holds_the_turn_and_leaves_nothing(router: Router, tmp_path: Path) -> None:
    turns = Turns()
    benches = _made(router, tmp_path / "benches", _SHORT, turns)
    mirrors = _mirrors(router)
    begun = benches.start(_WANTED, "nina")
    with pytest.raises(Conflict, match="a bench runs already"):
        benches.start(_WANTED, "otto")
    _when(benches, "at work")
    with (
        pytest.raises(Conflict, match="behind the bench of nina"),
        turns.taking(Turn("7f", "commit", "otto", "", SystemClock()), wait_s=0),
    ):
        pass
    # Of what it made nothing is the document's: it is neither drift, nor shown, counted or mirrored.
    assert _remains(router) > 0
    assert router.steps(DOCUMENT) == []
    assert {one.name for one in router.backend.interfaces_state()} == set(DOCUMENT["interfaces"])
    assert set(router.backend.counters()["interfaces"]) == set(DOCUMENT["interfaces"])
    assert _mirrors(router) == mirrors
    ended = _when(benches, "ended")
    assert (ended.id, ended.state, ended.ended) == (begun.id, "done", "")
    result = ended.result
    assert result is not None
    assert result.rounds == 3
    assert 0 < result.least_pps <= result.mrr_pps <= result.most_pps <= result.offered_pps
    assert {"ip4-lookup", "ip4-rewrite", "memif-tx"} <= {one.node for one in result.clocks}
    assert all(one.clocks > 0 for one in result.clocks)
    assert result.versions["vpp"]
    _is_as_before(router)
    # The next agent recognizes it.
    assert _made(router, tmp_path / "benches", _SHORT).all() == (ended,)


def test_one_that_is_cancelled_or_whose_generator_is_killed_leaves_nothing(
    router: Router, benches: Benches
) -> None:
    begun = benches.start(_WANTED, "nina")
    _when(benches, "at work")
    assert benches.cancel(begun.id).state == "cancelled"
    assert _remains(router) == 0
    benches.start(_WANTED, "nina")
    _when(benches, "at work")
    assert benches._running is not None
    assert benches._running.generator is not None
    assert benches._running.generator.pid is not None
    os.kill(benches._running.generator.pid, signal.SIGKILL)
    ended = _when(benches, "ended")
    assert (ended.state, ended.result) == ("failed", None)
    assert "generator ended" in ended.ended
    _is_as_before(router)


def _sent_to_others(router: Router) -> int:
    """Packets that came to the hosts beside VPP by its NICs."""
    counts = [
        run(host, "cat", f"/sys/class/net/peer{number}/statistics/rx_packets")
        for number, host in enumerate((router.left, router.right))
    ]
    return sum(int(one.stdout) for one in counts)


def _all_of_vpp(router: Router) -> dict[str, Any]:
    """Whatever a bench could leave."""

    def read(vpp: Any) -> dict[str, Any]:
        client = vpp.client
        return {
            "interfaces": sorted(int(row.sw_if_index) for row in client.dump("sw_interface_dump")),
            "routes": fib_counts(client, "ipv4"),
            "lists": sorted(str(row.tag) for row in client.dump("acl_dump", acl_index=0xFFFFFFFF)),
            "sessions": int(client.call("nat44_show_running_config").sessions),
        }

    return router.backend.look(vpp=read, linux=lambda _: {})


@pytest.mark.parametrize(
    ("scenario", "size", "node"),
    [
        ("fib", 10_000, "ip4-lookup"),
        ("fib", 100_000, "ip4-lookup"),
        ("acl", 50, "acl-plugin-in-ip4-fa"),
        ("nat", 1_000, "nat44-ed-in2out"),
    ],
)
def test_each_scenario_counts_packets_and_leaves_vpp_as_it_was(
    router: Router, tmp_path: Path, scenario: ScenarioName, size: int, node: str
) -> None:
    document = _filtered() if scenario == "acl" else DOCUMENT
    router.commit(document)
    router.wait_until_neighbors_are_known()
    before, sent = _all_of_vpp(router), _sent_to_others(router)
    lent: list[int] = []

    def lend(routes: int) -> AbstractContextManager[None]:
        lent.append(routes)
        return nullcontext()

    benches = _made(router, tmp_path / "benches", _SHORT, lend=lend)
    benches.start(BenchWanted(scenario=scenario, size=size, anyway=True), "nina")
    _when(benches, "at work")
    during = _all_of_vpp(router)
    if scenario == "fib":
        assert sum(during["routes"].values()) - sum(before["routes"].values()) > size
        assert lent == [size]
    elif scenario == "acl":
        assert len(during["lists"]) == len(before["lists"]) + 2
    else:
        assert during["sessions"] > size
    ended = _when(benches, "ended")
    assert (ended.state, ended.ended) == ("done", "")
    result = ended.result
    assert result is not None
    assert f"{size:,}" in result.title
    assert 0 < result.least_pps <= result.mrr_pps <= result.most_pps <= result.offered_pps
    assert node in {one.node for one in result.clocks}
    # Neighbors are asked whether they are still there; a bench has tens of thousands of packets a second.
    assert _sent_to_others(router) - sent < 100
    assert _all_of_vpp(router) == before
    assert _remains(router) == 0
    assert router.steps(document) == []
    router.wait_until_neighbors_are_known()


def _filtered() -> dict[str, Any]:
    rules = {"10": {"action": "permit"}, "20": {"action": "permit", "family": "ipv6"}}
    interfaces = {name: {**one, "acl_in": ["all"]} for name, one in DOCUMENT["interfaces"].items()}
    return {**DOCUMENT, "interfaces": interfaces, "acls": {"all": {"rules": rules}}}


def test_what_comes_after_nat_inherits_nothing_of_it(router: Router, tmp_path: Path) -> None:
    """VPP gives the number of an interface that is gone to the next one."""
    benches = _made(router, tmp_path / "benches", _SHORT, lend=lambda _: nullcontext())
    for wanted in (
        BenchWanted(scenario="nat", size=1_000, anyway=True),
        BenchWanted(scenario="fib", size=10_000, anyway=True),
        _WANTED,
    ):
        benches.start(wanted, "nina")
        ended = _when(benches, "ended")
        assert (ended.wanted, ended.state, ended.ended) == (wanted, "done", "")
        assert ended.result is not None
        translating = [one.node for one in ended.result.clocks if one.node.startswith("nat")]
        assert bool(translating) is (wanted.scenario == "nat")


def test_nat_that_a_killed_agent_had_just_switched_on_goes_with_the_next_plan(
    router: Router, benches: Benches
) -> None:
    before = _all_of_vpp(router)

    def switch_on(vpp: Any) -> None:
        vpp.client.call("nat44_ed_plugin_enable_disable", enable=True, sessions=3_024)

    router.backend.look(vpp=switch_on, linux=lambda _: None)
    benches.tidy()
    assert [step.summary for step in router.steps(DOCUMENT)] == ["remove NAT"]
    router.commit(DOCUMENT)
    assert _all_of_vpp(router) == before
    _is_as_before(router)


@pytest.mark.parametrize(("scenario", "size"), [("fib", 10_000), ("nat", 1_000)])
def test_what_a_scenario_made_goes_when_it_is_cancelled(
    router: Router, benches: Benches, scenario: ScenarioName, size: int
) -> None:
    before = _all_of_vpp(router)
    begun = benches.start(BenchWanted(scenario=scenario, size=size, anyway=True), "nina")
    _when(benches, "at work")
    assert benches.cancel(begun.id).state == "cancelled"
    assert _all_of_vpp(router) == before
    _is_as_before(router)


_KILLED = """
import sys
from pathlib import Path

from appliance.bench.benches import Benches
from appliance.bench.trials import Lengths
from appliance.dataplane.vpp.backend import VppDataplane
from appliance.engine.turns import Turns
from appliance.state.benches import BenchWanted

api, stats, mirrors, nics, folder, program, scenario = sys.argv[1:]
plane = VppDataplane(Path(api), Path(stats), None, mirrors, nics)
lengths = Lengths(200, 0.1, 15.0, 0.1)
benches = Benches(Path(folder), plane, Turns(), lambda: "", frozenset, Path(program), lengths)
benches.start(BenchWanted(scenario=scenario, anyway=True), "nina")
while not benches.all()[0].trials:
    pass
print(benches._running.generator.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("scenario", ["fwd", "fib", "nat"])
def test_the_next_agent_takes_away_what_a_killed_one_left(
    router: Router, vpp: PrivateVpp, tmp_path: Path, scenario: ScenarioName
) -> None:
    before = _all_of_vpp(router)
    folder = tmp_path / "benches"
    program = build(Path("/tmp/millrace-memif-traffic"))
    words = (vpp.api_socket, vpp.stats_socket, vpp.mirror_namespace, vpp.namespace, folder, program, scenario)
    agent = subprocess.Popen(
        [sys.executable, "-c", _KILLED, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert agent.stdout is not None
        generator = Path(f"/proc/{int(agent.stdout.readline())}")
    finally:
        agent.kill()
        agent.communicate()
    # It ends without its agent.
    ends = time.monotonic() + 30
    while generator.exists():
        assert time.monotonic() < ends, "the generator goes on without its agent"
        time.sleep(0.05)
    assert _remains(router) > 0
    # NAT is VPP's, of which the document says that it is off.
    assert scenario == "nat" or router.steps(DOCUMENT) == []
    benches = _made(router, folder, _SHORT)
    [left] = benches.all()
    assert (left.state, left.ended) == ("failed", "the agent ended while it ran")
    benches.tidy()
    assert _all_of_vpp(router) == before
    _is_as_before(router)
