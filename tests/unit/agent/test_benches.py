"""Benches: what each is refused for, what the turn says meanwhile, and how trials become a result."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from appliance.bench import guard, outcome, rig
from appliance.bench.benches import Benches
from appliance.bench.generator import Generator, GeneratorFailed, Trial
from appliance.bench.guard import Thread, Vpp
from appliance.bench.occupied import why_occupied
from appliance.bench.scenarios import room_routes, scenario_of
from appliance.bench.search import PDR_LOSS, Measured, search
from appliance.bench.trials import Lengths
from appliance.cli import bench as command
from appliance.cli.errors import CommandError
from appliance.dataplane.vpp.feeder import FeederClient
from appliance.dataplane.vpp.room import RouteRoom
from appliance.engine.clock import SystemClock
from appliance.engine.turns import Turn, Turns
from appliance.errors import Conflict
from appliance.state.benches import BenchState, BenchWanted, ScenarioName

_MIB = 1024 * 1024
_TWO = Vpp("26.06", (Thread("vpp_main", 0), Thread("vpp_wk_0", 1)), 500 * _MIB, 16_000)


def test_a_bench_needs_a_cpu_that_vpp_has_not() -> None:
    assert guard.require_cpu(_TWO, frozenset(range(4)), anyway=False) == 3
    with pytest.raises(Conflict, match="CPU 0, 1, and VPP's threads have vpp_main on 0, vpp_wk_0 on 1"):
        guard.require_cpu(_TWO, frozenset((0, 1)), anyway=False)
    assert guard.require_cpu(_TWO, frozenset((0, 1)), anyway=True) is None
    # What the agent may not use is not free.
    with pytest.raises(Conflict, match="no CPU is free"):
        guard.require_cpu(_TWO, frozenset([0]), anyway=False)


def test_threads_that_forward() -> None:
    assert [one.cpu for one in _TWO.forwarding] == [1]
    assert [one.cpu for one in Vpp("", (Thread("vpp_main", 2),), None, None).forwarding] == [2]


def test_a_bench_needs_a_quiet_router() -> None:
    before = {"wan0": {"rx_packets": 1000, "tx_packets": 0}, "lan0": {"rx_packets": 5, "tx_packets": 5}}
    after = {
        "wan0": {"rx_packets": 5000, "tx_packets": 500},
        "lan0": {"rx_packets": 505, "tx_packets": 405},
        "new0": {"rx_packets": 9, "tx_packets": 9},
    }
    rates = guard.rates(before, after, 2.0)
    assert rates == {"wan0": 2250.0, "lan0": 450.0}
    with pytest.raises(Conflict, match=r"disturb it: wan0 2,250 packets a second over 2\.0 s") as raised:
        guard.require_quiet(rates, 2.0, anyway=False)
    assert "lan0" not in str(raised.value)
    assert guard.require_quiet(rates, 2.0, anyway=True)
    assert not guard.require_quiet({"lan0": 450.0}, 2.0, anyway=False)


@pytest.mark.parametrize(
    ("vpp", "reason"),
    [
        (Vpp("", (), 10 * _MIB, 16_000), "main heap has 10 MiB left"),
        (Vpp("", (), 500 * _MIB, 900), "900 packet buffers left"),
        (Vpp("", (), 500 * _MIB, 16_000, has_links=False), "plugin memif"),
    ],
)
def test_a_bench_needs_room_in_vpp(vpp: Vpp, reason: str) -> None:
    with pytest.raises(Conflict, match=reason):
        guard.require_room(vpp, 10**9)


def test_a_bench_needs_memory_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 1000000 kB\nMemAvailable:   102400 kB\n")
    available = guard.available_bytes(tmp_path / "meminfo")
    assert available == 100 * _MIB
    assert guard.available_bytes(tmp_path / "nosuch") is None
    with pytest.raises(Conflict, match="the machine has 100 MiB of memory left"):
        guard.require_room(_TWO, available)


def test_where_vpp_does_not_tell_of_its_memory_nothing_is_refused() -> None:
    guard.require_room(Vpp("", (), None, None), None)


def _why(
    turns: Turns | None = None,
    pending: dict[str, Any] | None = None,
    watch: dict[str, Any] | None = None,
    captures: tuple[Any, ...] = (),
    traces: tuple[Any, ...] = (),
) -> str:
    engine = SimpleNamespace(
        turns=turns or Turns(),
        pending_confirm=lambda: pending,
        watched=SimpleNamespace(now=lambda: watch),
    )
    return why_occupied(
        cast("Any", engine),
        cast("Any", SimpleNamespace(all=lambda: captures)),
        cast("Any", SimpleNamespace(all=lambda: traces)),
    )


def test_a_bench_waits_for_whatever_is_under_way() -> None:
    assert _why() == ""
    turns = Turns()
    with turns.taking(Turn("7f", "commit", "otto", "", SystemClock())):
        assert _why(turns).startswith("a commit is under way")
    assert _why(turns) == ""
    assert _why(pending={"revision": 7}).startswith("revision 7 awaits confirmation: confirm it")
    assert _why(watch={"revision": 8, "left_s": 12.4}).startswith("revision 8 is watched for 12 more seconds")
    running, over = SimpleNamespace(id="ab", state="running"), SimpleNamespace(id="cd", state="done")
    assert "`capture stop ab`" in _why(captures=(over, running))
    assert "`trace stop ab`" in _why(traces=(over, running))
    assert _why(captures=(over,), traces=(over,)) == ""


class _Plane:
    """A data plane that answers what the test sets."""

    def __init__(self, vpp: Vpp = _TWO, kernel_forwards: bool = False) -> None:
        self.vpp, self.kernel_forwards = vpp, kernel_forwards
        self.asked = 0

    def look(self, *, vpp: Any, linux: Callable[[Any], Any]) -> Any:
        del linux
        self.asked += 1
        assert vpp.func is guard.look, "nothing is made before all was asked"
        return self.vpp

    def counters(self) -> dict[str, Any]:
        return {"interfaces": {"wan0": {"rx_packets": 0, "tx_packets": 0}}}


def _benches(folder: Path, plane: _Plane, turns: Turns, why: Callable[[], str], program: Path) -> Benches:
    lengths = Lengths(quiet_s=0.01)
    return Benches(folder, cast("Any", plane), turns, why, frozenset, program, lengths)


_PROGRAM = Path("/bin/true")
_ANYWAY = BenchWanted(scenario="fwd", anyway=True)


def test_what_anyway_does_not_override(tmp_path: Path) -> None:
    turns = Turns()
    kernel = _benches(tmp_path / "a", _Plane(kernel_forwards=True), turns, lambda: "", _PROGRAM)
    with pytest.raises(Conflict, match="forwards by the Linux kernel"):
        kernel.start(_ANYWAY, "nina")
    assert not kernel.may_have_left
    missing = _benches(tmp_path / "b", _Plane(), turns, lambda: "", tmp_path / "nosuch")
    with pytest.raises(Conflict, match="generator is not installed"):
        missing.start(_ANYWAY, "nina")
    plane = _Plane()
    occupied = _benches(tmp_path / "c", plane, turns, lambda: "packets are captured", _PROGRAM)
    with pytest.raises(Conflict, match="packets are captured"):
        occupied.start(_ANYWAY, "nina")
    assert plane.asked == 0
    full = _benches(tmp_path / "d", _Plane(Vpp("", (), 0, 0)), turns, lambda: "", _PROGRAM)
    with pytest.raises(Conflict, match="main heap"):
        full.start(_ANYWAY, "nina")
    # None of them holds a turn, and the next one may begin.
    for one in (kernel, missing, occupied, full):
        assert one.all() == ()
    with turns.taking(Turn("7f", "commit", "otto", "", SystemClock()), wait_s=0):
        pass


def test_what_begins_while_the_bench_waits_for_its_turn_stops_it(tmp_path: Path) -> None:
    said = iter(["", "revision 7 awaits confirmation"])
    turns = Turns()
    benches = _benches(tmp_path, _Plane(), turns, lambda: next(said), _PROGRAM)
    with pytest.raises(Conflict, match="awaits confirmation"):
        benches.start(_ANYWAY, "nina")
    with turns.taking(Turn("7f", "commit", "otto", "", SystemClock()), wait_s=0):
        pass


def test_a_commit_waits_for_a_bench_and_is_told_whose_it_is() -> None:
    turns = Turns()
    begun = threading.Event()

    def commit() -> None:
        turn = Turn("7f", "commit", "otto", "", SystemClock())
        begun.set()
        with turns.taking(turn):
            pass

    holding: AbstractContextManager[None] = turns.taking(Turn("", "bench", "nina", "", SystemClock()))
    with holding:
        assert turns.under_way().running is None
        thread = threading.Thread(target=commit)
        thread.start()
        assert begun.wait(10)
        while not turns.under_way().queued:
            pass
        assert turns.under_way().queued[0].ahead == ("the bench of nina",)
    thread.join(10)
    assert not thread.is_alive()


class _Takes:
    """A router that forwards this many packets a second."""

    name = "one"

    def __init__(self, pps: float) -> None:
        self.pps = pps
        self.rates: list[float] = []

    def trial(self, pps: float, seconds: float) -> Trial:
        self.rates.append(pps)
        offered = int(pps * seconds)
        received = min(offered, int(self.pps * seconds))
        return Trial(seconds, offered, offered - received, received, 60 * received, 9, 0, 0.0, 0.0)


def test_the_pdr_alone_is_searched_where_that_is_wanted() -> None:
    router, measured = _Takes(9e6), Measured(received_pps=[9.2e6])
    search([router], {"one": measured}, (PDR_LOSS,))
    assert measured.pdr_pps is not None
    assert measured.pdr_pps == pytest.approx(9e6, rel=0.03)
    assert measured.pdr_pps <= 9e6 * (1 + PDR_LOSS)
    assert measured.ndr_pps is None
    assert {one["what"] for one in measured.trials} == {"pdr"}


def test_clocks_are_told_once_vpp_has_counted_all_packets() -> None:
    totals = {
        "memif-input": (2000, 900_000),
        "ip4-lookup": (1000, 12_000),
        "ip4-rewrite": (1000, 14_500),
        "nat44-ed-in2out": (300, 90_000),
    }
    assert outcome.costs(totals, 1001) == ()
    assert [(one.node, one.clocks) for one in outcome.costs(totals, 1000)] == [
        ("ip4-rewrite", 14.5),
        ("ip4-lookup", 12.0),
    ]


def test_nodes_of_both_sides_are_told_as_one() -> None:
    names = ("memif2147483647/0-tx", "interface-2-tx-deleted", "interface-12-output", "ip4-rewrite")
    assert [rig.of_both_sides(name) for name in names] == [
        "memif-tx", "memif-tx", "memif-output", "ip4-rewrite",
    ]  # fmt: skip


def _result(cpu: int | None, stalled_s: float = 0.0) -> Any:
    measured = Measured(received_pps=[9e6, 8e6, 10e6], pdr_pps=8.5e6)
    for _ in range(3):
        measured.log("overload", 1e8, Trial(0.2, 20_000_000, 1, 1_800_000, 1, 1, 0, stalled_s, 0.0))
    return outcome.result(scenario_of(_ANYWAY), measured, Lengths(), _TWO, cpu, True, ())


def test_a_result_says_what_it_does_not_tell() -> None:
    own, shared = _result(3), _result(None)
    assert (own.mrr_pps, own.least_pps, own.most_pps, own.pdr_pps) == (9e6, 8e6, 10e6, 8.5e6)
    assert own.offered_pps == 1e8
    assert own.forwarding_cpus == (1,)
    assert "shares caches" in own.unknown[0]
    assert "lower bound" in shared.unknown[0]
    busy = _result(3, 0.05)
    assert (own.stalled, busy.stalled) == (0.0, 0.25)
    assert "off its CPU for 25% of the time" in busy.unknown[0]
    assert any("NIC" in one for one in own.unknown)
    state = BenchState(
        id="0123456789ab", wanted=_ANYWAY, author="nina", started_at="", state="done", ran_s=4, trials=9,
        result=shared,
    )  # fmt: skip
    agent = cast("Any", SimpleNamespace(cancel_bench=lambda _: state))
    shown = command.bench(agent, "nina", ["cancel", state.id]).shown
    for told in (
        "9.00",
        "8.50",
        "100.00",
        "0.1% lost (PDR)",
        "CPU that VPP shares",
        "lower bound",
        "other traffic",
    ):
        assert told in shown


@pytest.mark.parametrize("words", [[], ["nosuch"], ["fwd", "--now"], ["fib", "1", "2"], ["cancel", "a", "b"]])
def test_other_words_are_refused_with_the_usage(words: list[str]) -> None:
    with pytest.raises(CommandError, match=r"bench fwd\|imix\|acl\|nat\|fib \[SIZE\] \[--anyway\]"):
        command.bench(cast("Any", None), "nina", words)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["l2"], "l2 is not measured on a router: bridging is not a feature"),
        (["chain"], "need a CPU each"),
        (["churn", "--anyway"], "commits wait while a bench runs"),
        (["fwd", "5"], "size: fwd has none"),
        (["fib", "262145"], "at most 262,144 routes"),
        (["acl", "1025"], "at most 1,024 rules"),
        (["nat", "0"], "greater than or equal to 1"),
    ],
)
def test_what_is_not_measured_is_refused_by_name(words: list[str], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        command.bench(cast("Any", None), "nina", words)


@pytest.mark.parametrize(
    ("words", "size", "anyway", "named"),
    [
        (["fib"], 10_000, False, "fib 10000"),
        (["fib", "262,144", "--anyway"], 262_144, True, "fib 262144"),
        (["acl", "--anyway", "1"], 1, True, "acl 1"),
        (["nat"], 1_000, False, "nat 1000"),
        (["fwd"], 0, False, "fwd"),
    ],
)
def test_sizes(words: list[str], size: int, anyway: bool, named: str) -> None:
    asked: list[BenchWanted] = []

    def start(wanted: BenchWanted, *, author: str) -> BenchState:
        asked.append(wanted)
        return BenchState(
            id="0123456789ab", wanted=wanted, author=author, started_at="", state="done", ran_s=4, trials=9
        )

    shown = command.bench(cast("Any", SimpleNamespace(start_bench=start)), "nina", words)
    assert (asked[0].sized, asked[0].anyway) == (size, anyway)
    assert "done" in shown.shown
    assert start(asked[0], author="").scenario == named


def _wanted(scenario: ScenarioName, size: int) -> BenchWanted:
    return BenchWanted(scenario=scenario, size=size)


@pytest.mark.parametrize(
    ("wanted", "vpp", "reason"),
    [
        (_wanted("fib", 10_001), _TWO, "without the feeder"),
        (_wanted("acl", 1), replace(_TWO, against="no list is bound"), "no list is bound"),
        (_wanted("nat", 10_000), replace(_TWO, heap_free_bytes=70 * _MIB), "refused below 79"),
    ],
)
def test_what_the_packets_are_to_pass_needs_room_and_harms_nobody(
    wanted: BenchWanted, vpp: Vpp, reason: str
) -> None:
    with pytest.raises(Conflict, match=reason):
        guard.require_load(vpp, scenario_of(wanted), counts_routes=False)
    guard.require_load(_TWO, scenario_of(wanted), counts_routes=True)


def test_what_a_scenario_takes_is_counted_in_routes() -> None:
    assert room_routes(scenario_of(_ANYWAY), 1) == 0
    assert room_routes(scenario_of(_wanted("fib", 5)), 4) == 5
    one, two = (room_routes(scenario_of(_wanted("nat", 1_000)), threads) for threads in (1, 2))
    assert one * 730 >= 8_000_000 + 3_024 * 400 > (one - 1) * 730
    assert two > one


class _Feeder(FeederClient):
    """A bench that answers what the test sets, and records what it was told."""

    def __init__(self, most: int | None, held: int) -> None:
        super().__init__(Path("/nosuch"))
        self.most, self.held = most, held
        self.told: list[int | None] = []

    def state(self) -> Any:
        return SimpleNamespace(most_routes=self.most, in_vpp=self.held)

    def _tell_most(self, most: int | None) -> None:
        self.told.append(most)
        self.most = most


def test_routes_of_a_bench_are_lent_and_given_back() -> None:
    feeder = _Feeder(300_000, 30_000)
    with feeder.lent(262_144):
        assert feeder.most == 300_000 - 262_144
        # A preview meanwhile, and the health check after it.
        assert feeder.room() == RouteRoom(300_000)
        feeder.most_routes = 300_000
        feeder.keep_size(feeder.state())
    assert feeder.told == [37_856, 300_000]
    with pytest.raises(RuntimeError, match="dead"), feeder.lent(5):
        raise RuntimeError("dead")
    assert feeder.told[-1] == 300_000
    with pytest.raises(Conflict, match="room for 270,000 more routes"), feeder.lent(270_001):
        pass
    with pytest.raises(Conflict, match="does not know yet"), _Feeder(None, 0).lent(5):
        pass


def test_a_generator_that_ends_says_why() -> None:
    dying = Generator((sys.executable, "-c", "import sys; sys.exit('no such socket')"))
    with pytest.raises(GeneratorFailed, match="ended: no such socket"), dying:
        pass
    with pytest.raises(GeneratorFailed, match="does not start"), Generator(("/nosuch",)):
        pass
    talks = "print('{}', flush=True)\nwhile line := input(): pass"
    with Generator((sys.executable, "-c", talks)) as running:
        running.kill()
        with pytest.raises(GeneratorFailed, match="ended"):
            running.learn(1)
