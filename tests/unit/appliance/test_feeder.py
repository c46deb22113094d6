"""The agent's side of the feeder: its answers, a missing answer, and what follows from them."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from appliance.agent.settings import load
from appliance.config.load import parse_document
from appliance.dataplane.vpp.feeder import FeederClient
from appliance.dataplane.vpp.room import RouteRoom, room_steps
from appliance.engine.backend import BackendUnavailable, StepError
from appliance.errors import ValidationFailed
from appliance.health.check import Finding, Look
from appliance.health.feeder import feeder
from appliance.state.feeder import ComparedRoutes, FedRoutes, FeederLag, FeederState
from frr_config import V8_4, FakeFrr, Line, Routing, plan, render
from vpp_config import LcpPair, Loopback, Session, VppState
from vpp_config import plan as vpp_plan
from vpp_config.fake import FakeVpp
from vpp_config.startup_conf import StartupConf
from webui.metrics.feeder import of_feeder

STATUS: dict[str, Any] = {
    "uptime_s": 5, "pending": 3, "behind_ms": 12,
    "ipv4": {"wanted": 10, "in_vpp": 8, "stale": 1, "refused": 2, "waiting": 0},
    "ipv6": {"wanted": 1, "in_vpp": 1, "stale": 0, "refused": 0, "waiting": 0},
    "next_hop_groups": 2, "queued": 11, "last_burst_routes": 11, "last_burst_ms": 4,
    "lag": {"bounds_ms": [1, 2], "counts": [4, 2, 1], "sum_ms": 9},
    "memory_bytes": 4096,
    "zebra": {"connected": True, "resync": False, "unsupported": {"MPLS": 7}},
    "vpp": {"connected": True, "error": "", "sweep_due": False, "given": 12, "taken": 3, "refused": 2,
            "refusals": {"-3": 2}},
    "proof": {"checked": 4, "told_again": 2, "differing": 1,
              "named": [{"prefix": "10.0.0.0/8", "table": 0}, {"prefix": "10.2.0.0/16", "table": 7}],
              "last_pass": {"routes": 9, "took_ms": 60000, "ended_s": 7}},
    "mirrors": [],
}  # fmt: skip
"""As the program prints it (feeder/src/report.rs)."""


class ToyFeeder:
    """A status socket that answers each line with what the test has put there."""

    def __init__(self, path: Path) -> None:
        self.answer: Any = STATUS
        self.asked: list[str] = []
        self.hung_up = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as lines:
                asked = lines.readline().decode().strip()
                self.asked.append(asked)
                connection.sendall(json.dumps(self.answer).encode() + b"\n")
                if asked.startswith("vacate"):
                    lines.read()
                    self.hung_up.set()


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[ToyFeeder]:
    with ToyFeeder(tmp_path / "feeder.sock") as toy:
        yield toy


@pytest.fixture
def client(tmp_path: Path) -> FeederClient:
    return FeederClient(tmp_path / "feeder.sock")


def test_its_state_is_told_in_the_words_of_the_router(toy: ToyFeeder, client: FeederClient) -> None:
    assert client.state() == FeederState(
        carrier="feeder",
        frr_connected=True,
        frr_told_all=True,
        vpp_connected=True,
        vpp_swept=True,
        pending=3,
        behind_ms=12,
        ipv4=FedRoutes(wanted=10, in_vpp=8, stale=1, refused=2),
        ipv6=FedRoutes(wanted=1, in_vpp=1),
        given=12,
        withdrawn=3,
        refusals={"no such FIB / VRF": 2},
        unsupported={"MPLS": 7},
        last_burst_routes=11,
        last_burst_ms=4,
        lag=FeederLag(bounds_ms=(1, 2), counts=(4, 2, 1), sum_ms=9),
        compared=ComparedRoutes(
            checked=4,
            routes=9,
            took_s=60,
            ended_s=7,
            told_again=2,
            differing=1,
            named=("10.0.0.0/8", "10.2.0.0/16 in table 7"),
        ),
        memory_bytes=4096,
        uptime_s=5,
    )
    assert client.doubtful() == ["10.0.0.0/8"]
    (alarm,) = [
        one
        for one in feeder(Look(client.state(), parse_document({"schema_version": 1})))
        if one.kind == "routes_differ"
    ]
    assert "VPP does not have 10.2.0.0/16 in table 7 as FRR wants it: " in alarm.summary
    health = client.health()
    assert (health.state, health.detail) == ("up", "9 routes in VPP, 3 on the way")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"zebra": {**STATUS["zebra"], "connected": False}}, "FRR's zebra is not connected"),
        ({"vpp": {**STATUS["vpp"], "connected": False, "error": "refused"}}, "not connected to VPP: refused"),
        ({"zebra": {}}, "not as it should be"),
        ({"error": "ask: status"}, "does not understand"),
    ],
)
def test_what_is_wrong_with_it_is_its_health(
    toy: ToyFeeder, client: FeederClient, changed: dict[str, Any], said: str
) -> None:
    toy.answer = {**STATUS, **changed}
    health = client.health()
    assert health.state == "down" and said in health.detail


def test_one_that_is_not_there_is_down_and_vacates_nothing(client: FeederClient) -> None:
    assert "does not answer" in client.health().detail
    with pytest.raises(BackendUnavailable):
        client.state()
    with (
        pytest.raises(StepError, match="the routes over lan0 cannot be taken out of VPP"),
        client.vacated("lan0"),
    ):
        raise AssertionError("nobody has said so")


def test_a_mirror_is_vacant_for_as_long_as_the_connection_holds(toy: ToyFeeder, client: FeederClient) -> None:
    toy.answer = {"reached": True, "waited_ms": 1, "pending": 0}
    with client.vacated("lan0"):
        assert not toy.hung_up.is_set()
    assert toy.hung_up.wait(10)
    assert toy.asked == ["vacate lan0 20000"]


def test_a_mirror_that_is_not_vacated_in_time_stays(toy: ToyFeeder, client: FeederClient) -> None:
    toy.answer = {"reached": False, "waited_ms": 20000, "pending": 12}
    with (
        pytest.raises(StepError, match=r"over lan0 .* within 20 s \(changes on the way: 12\)"),
        client.vacated("lan0"),
    ):
        raise AssertionError("it still has routes")


def test_the_barrier(toy: ToyFeeder, client: FeederClient) -> None:
    for reached in (True, False):
        toy.answer = {"reached": reached, "waited_ms": 1, "pending": 0}
        assert client.caught_up(0.25) is reached
    assert toy.asked == ["barrier 250"] * 2


def test_routes_that_vpp_does_not_have_are_alarms() -> None:
    config = parse_document({"schema_version": 1})
    well = FeederState(carrier="feeder", vpp_connected=True, frr_connected=True, behind_ms=9_999)
    assert list(feeder(Look(well, config))) == []
    assert list(feeder(Look(FeederState(carrier="kernel"), config))) == []
    (behind,) = feeder(Look(well.model_copy(update={"behind_ms": 12_000, "pending": 7}), config))
    assert (behind.kind, behind.severity, behind.for_s) == ("feeder_behind", "major", 12)
    assert behind.evidence == {"changes on the way": "7", "VPP": "connected"}
    worse = {"ipv4": FedRoutes(refused=1), "refusals": {"no such FIB / VRF": 4}}
    (refused,) = feeder(Look(well.model_copy(update=worse), config))
    assert refused.kind == "routes_refused" and "refused 1 route that" in refused.summary
    assert refused.evidence == {"no such FIB / VRF": "4"} and refused.patience_s > 0


def test_vpp_s_size_is_told_where_it_is_another(toy: ToyFeeder, tmp_path: Path) -> None:
    size: list[int | None] = [None, 500, 700]
    client = FeederClient(tmp_path / "feeder.sock", lambda: size.pop(0))
    toy.answer = {**STATUS, "most_routes": 500}
    state = client.state()
    assert state.most_routes == 500
    client.keep_size(state)
    client.keep_size(state)
    client.keep_size(state)
    assert toy.asked == ["status", "most 700"]

    def unreadable() -> int:
        raise OSError("no such file")

    with pytest.raises(BackendUnavailable, match="size is not known"):
        FeederClient(tmp_path / "feeder.sock", unreadable).keep_size(state)


def test_a_route_is_told_again(toy: ToyFeeder, client: FeederClient) -> None:
    for wanted in (True, False):
        toy.answer = {"wanted": wanted}
        assert client.tell_again("2001:db8::/32") is wanted
    assert toy.asked == ["again 2001:db8::/32"] * 2


def test_routes_that_vpp_has_no_room_for_are_an_alarm_and_before_a_warning() -> None:
    config = parse_document({"schema_version": 1})
    state = FeederState(carrier="feeder", vpp_connected=True, frr_connected=True, most_routes=1000)

    def at(ipv4: int, ipv6: int = 0, held_back: int = 0, stands: bool = False) -> list[Finding]:
        routes = {"ipv4": FedRoutes(in_vpp=ipv4), "ipv6": FedRoutes(in_vpp=ipv6, held_back=held_back)}
        standing = {("route_table_filling", "routes"): 5.0} if stands else {}
        return list(feeder(Look(state.model_copy(update=routes), config, standing=standing)))

    assert at(799) == at(700, 99) == at(749, stands=True) == []
    for (warning,) in (at(800), at(400, 400), at(750, stands=True)):
        assert (warning.kind, warning.severity) == ("route_table_filling", "warning")
    (alarm,) = at(600, 400, held_back=1)
    assert (alarm.kind, alarm.severity) == ("routes_held_back", "critical")
    assert "no room for 1 route that" in alarm.summary
    assert alarm.evidence == {"in VPP": "1,000", "room for": "1,000", "held back": "1"}


def test_metrics_of_it(toy: ToyFeeder, client: FeederClient) -> None:
    found = {metric.name: metric for metric in of_feeder(client.state())}
    buckets = [
        (sample.labels["le"], sample.value)
        for sample in found["millrace_feeder_lag_seconds"].samples
        if sample.name.endswith("_bucket")
    ]
    assert buckets == [("0.001", 4), ("0.002", 6), ("+Inf", 7)]
    routes = found["millrace_feeder_routes_in_vpp"].samples
    assert {(one.labels["family"], one.value) for one in routes} == {("ipv4", 8), ("ipv6", 1)}
    assert [one.value for one in found["millrace_feeder_routes_differing"].samples] == [1]
    assert [one.value for one in found["millrace_feeder_compared_age_seconds"].samples] == [7]
    (up,) = of_feeder(None)
    assert [(sample.labels, sample.value) for sample in up.samples] == [({"to": "agent"}, 0)]
    assert list(of_feeder(FeederState(carrier="kernel"))) == []


def test_zebra_is_told_where_it_is_and_told_no_longer() -> None:
    lines = [Line((), "fpm address 127.0.0.1"), Line((), "zebra dplane limit 5000")]
    with_feeder, without = render(Routing(), V8_4, feeds=True), render(Routing(), V8_4)
    assert list(with_feeder.lines()) == lines
    assert [with_feeder.holders[line] for line in lines] == [{"zebra"}, {"zebra"}]
    frr = FakeFrr()
    for wanted in (with_feeder, without):
        for step in plan(wanted, frr.observe()):
            frr.apply(step)
        assert set(frr.observe().holders) == set(wanted.holders)


def test_linux_nl_is_not_loaded_beside_it() -> None:
    text = StartupConf().render()
    assert "linux_nl" not in text and "linux-nl" not in text
    assert "linux_cp_plugin.so { enable }" in text


def test_the_setting_is_of_vpp_alone(tmp_path: Path) -> None:
    settings = tmp_path / "agent.json"
    given = {"socket": "/s", "state_dir": "/d", "dataplane": "linux", "feeder_socket": "/f"}
    settings.write_text(json.dumps(given))
    with pytest.raises(ValidationFailed, match="feeder_socket is only for the vpp data plane"):
        load(settings)


def test_a_mirror_leaves_inside_the_block_and_the_interface_stays_up(
    toy: ToyFeeder, client: FeederClient
) -> None:
    toy.answer = {"reached": True, "waited_ms": 1, "pending": 0}
    fake = FakeVpp()
    session = Session(fake, vacate_mirror=lambda _netns, name: client.vacated(name))
    loopback, pair = Loopback("loop0", instance=0, enabled=True), LcpPair("loop0", "loop0", "mirrors")
    for wanted in ((loopback, pair), (loopback,)):
        fake.calls.clear()
        for step in vpp_plan(VppState.of(wanted), session.observe()):
            session.apply(step)
    assert toy.asked == ["vacate loop0 20000"]
    assert "sw_interface_set_flags" not in [call.name for call in fake.calls]
    assert not vpp_plan(VppState.of((loopback,)), session.observe())
    # If routes are left, the interface stays.
    toy.answer = {"reached": False, "waited_ms": 20000, "pending": 1}
    for step in vpp_plan(VppState.of((loopback, pair)), session.observe()):
        session.apply(step)
    (removal,) = vpp_plan(VppState.of((loopback,)), session.observe())
    with pytest.raises(StepError):
        session.apply(removal)
    assert not vpp_plan(VppState.of((loopback, pair)), session.observe())


def test_room_is_left_before_others_take_it_and_never_below_what_vpp_has(
    toy: ToyFeeder, client: FeederClient
) -> None:
    client.leave_room(None, 9)
    assert toy.asked == ["most 9", "status"]
    toy.asked.clear()
    with pytest.raises(StepError, match=r"VPP has 9 routes, and .* there is room for 8\. .*main_heap_mb"):
        client.leave_room(1000, 8)
    assert toy.asked == ["most 8", "status", "most 1000"], "what held before holds again"
    toy.asked.clear()
    client.set_most(None)
    assert toy.asked == [f"most {(1 << 64) - 1}"]
    assert client.room() == RouteRoom(None) and toy.asked[-1] == "status"


def test_the_room_is_part_of_a_plan_that_has_other_steps() -> None:
    many, few = RouteRoom(1000), RouteRoom(10, held=12)
    (less,) = room_steps(RouteRoom(5), few)
    assert (less.phase, less.before, less.after) == ("withdraw", 10, 5)
    assert less.summary == "leave room in VPP for 5 routes; it has 12, so this is refused"
    (more,) = room_steps(many, few)
    assert (more.phase, more.undo_summary) == ("announce", "leave room in VPP for 10 routes")
    assert [*room_steps(many, RouteRoom(1000, held=7)), *room_steps(many, None), *room_steps(None, few)] == []
    (first,) = room_steps(many, RouteRoom(None))
    assert (first.phase, first.undo_summary) == ("withdraw", "leave room in VPP for any number of routes")
