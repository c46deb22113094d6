"""Alarms over time: raised, standing, unchecked, cleared; and the log, whatever happens to its file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from appliance.config.document import RouterConfig
from appliance.engine.backend import BackendUnavailable
from appliance.health import watch as watching
from appliance.health.check import Check, Finding, Look
from appliance.health.events import EventLog
from appliance.health.watch import MOST_FINDINGS, HealthWatch
from appliance.state.alarms import AlarmEvent, EventsQuery
from tests.unit.engine.toys import ToyClock


def _link(name: str = "wan0", **more: Any) -> Finding:
    return Finding("link_down", name, "major", f"{name} is down", "Mend it.", {"link": "down"}, **more)


@dataclass
class _Engine:
    revision: int = 3
    running_config: RouterConfig = field(default_factory=RouterConfig)


@dataclass
class _Router:
    engine: _Engine = field(default_factory=_Engine)
    found: list[Finding] = field(default_factory=list)
    fails: Exception | None = None
    reading: Callable[[], None] = lambda: None

    def read(self) -> list[Finding]:
        self.reading()
        if self.fails is not None:
            raise self.fails
        return list(self.found)


def _judge(look: Look[list[Finding]]) -> Iterable[Finding]:
    return look.now


def _read(router: Any) -> list[Finding]:
    found: list[Finding] = router.read()
    return found


CHECKS = (Check("links", _read, _judge),)


class Watched:
    """A watch over a router that answers as the test defines."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.router, self.clock = directory, _Router(), ToyClock()
        self.watch = self.restarted()

    def restarted(self) -> HealthWatch:
        given: Any = self.router
        self.watch = HealthWatch(given, EventLog(self.directory), CHECKS, self.clock)
        return self.watch

    def looks(self, *found: Finding, after_s: float = 5) -> list[str]:
        """The alarms after a check with these findings."""
        self.clock.wait(after_s)
        self.router.found = list(found)
        self.watch.look()
        return [alarm.object for alarm in self.watch.alarms().alarms]

    def log(self, **query: Any) -> list[tuple[str, str]]:
        events = self.watch.events(EventsQuery(**query)).events
        return [(event.event, event.object) for event in reversed(events)]


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_nothing_is_said_before_the_first_look(watched: Watched) -> None:
    assert watched.watch.alarms().looked_s_ago is None
    assert watched.looks() == []
    assert watched.watch.alarms().looked_s_ago == 0


def test_an_alarm_is_raised_stands_and_is_cleared_each_written_down_once(watched: Watched) -> None:
    assert watched.looks(_link()) == ["wan0"]
    assert watched.looks(_link()) == ["wan0"]
    (alarm,) = watched.watch.alarms().alarms
    assert (alarm.for_s, alarm.severity, alarm.evidence, alarm.checked) == (
        5,
        "major",
        {"link": "down"},
        True,
    )
    assert watched.watch.summary()["counts"] == {"major": 1}
    assert watched.looks() == []
    assert watched.log() == [("raised", "wan0"), ("cleared", "wan0")]
    cleared, raised = watched.watch.events(EventsQuery()).events
    assert (cleared.lasted_s, cleared.revision, raised.lasted_s) == (10, 3, None)
    assert (cleared.number, raised.number) == (2, 1)


def test_how_long_it_stands_does_not_follow_the_wall_clock(watched: Watched) -> None:
    watched.looks(_link())
    watched.clock.now_s -= 86_400
    watched.looks(_link(), after_s=60)
    (alarm,) = watched.watch.alarms().alarms
    assert alarm.for_s == 60


def test_what_the_router_says_of_the_beginning_is_believed(watched: Watched) -> None:
    watched.looks(_link(for_s=100))
    assert watched.watch.alarms().alarms[0].for_s == 100


def test_what_is_normal_for_a_moment_needs_to_last(watched: Watched) -> None:
    assert watched.looks(_link(patience_s=8)) == []
    assert watched.looks() == []
    assert watched.looks(_link(patience_s=8)) == [], "the patience begins anew"
    assert watched.looks(_link(patience_s=8)) == []
    assert watched.looks(_link(patience_s=8)) == ["wan0"]
    assert watched.watch.alarms().alarms[0].for_s == 10


def test_an_alarm_that_cannot_be_checked_stands_and_says_so(watched: Watched) -> None:
    watched.looks(_link())
    watched.router.fails = BackendUnavailable("frr", "bgpd does not answer")
    assert watched.looks() == ["wan0"]
    found = watched.watch.alarms()
    assert not found.alarms[0].checked
    assert found.unchecked == {"links": "frr: bgpd does not answer"}
    watched.router.fails = None
    assert watched.looks() == []
    assert watched.watch.alarms().unchecked == {}


def test_a_check_that_breaks_is_said_to_be_unchecked(watched: Watched) -> None:
    watched.router.fails = KeyError("interfaces")
    assert watched.looks() == []
    assert list(watched.watch.alarms().unchecked) == ["links"]


def test_a_part_that_hangs_holds_up_nothing_and_is_asked_once(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_ANSWER_S", 0.05)
    go_on, asked = threading.Event(), []

    def hang() -> None:
        asked.append(1)
        go_on.wait(20)

    watched.router.reading = hang
    for _ in range(3):
        watched.looks(_link())
        assert watched.watch.alarms().unchecked == {"links": "it does not answer in time"}
    assert asked == [1]
    go_on.set()
    watched.router.reading = lambda: None
    monkeypatch.setattr(watching, "_ANSWER_S", 20)
    assert watched.looks(_link()) == ["wan0"]


class TwoParts:
    """A watch in its own rhythm over a slow part, which may hang, and one that answers at once."""

    def __init__(self, directory: Path) -> None:
        self.clock = ToyClock()
        self.slow_s, self.asked = 0.0, {"slow": 0, "quick": 0}
        self.hangs = threading.Event()
        self.hangs.set()
        self.slow_found: list[Finding] = []
        self.quick_found: list[Finding] = []
        self.quick_reads: Callable[[], None] = lambda: None
        checks = (Check("slow", self._slow, _judge), Check("quick", self._quick, _judge))
        given: Any = _Router()
        self.watch = HealthWatch(given, EventLog(directory), checks, self.clock)

    def _slow(self, _router: Any) -> list[Finding]:
        self.asked["slow"] += 1
        self.hangs.wait(60)
        self.clock.wait(self.slow_s)
        return list(self.slow_found)

    def _quick(self, _router: Any) -> list[Finding]:
        self.asked["quick"] += 1
        self.quick_reads()
        return list(self.quick_found)

    def looks(self, *, after_s: float = 5) -> list[str]:
        self.clock.wait(after_s)
        self.watch.look(only_due=True)
        return [alarm.object for alarm in self.watch.alarms().alarms]


def test_what_takes_long_to_read_is_read_less_often_and_holds_nothing_else_up(tmp_path: Path) -> None:
    two = TwoParts(tmp_path)
    two.slow_s = 1.0
    two.slow_found = [_link("slow0", patience_s=8)]
    assert two.looks() == []
    two.slow_s = 0.0
    two.quick_found = [_link("quick0")]
    assert two.looks() == ["quick0"]
    found = two.watch.alarms()
    assert (found.checks, found.unchecked, found.looked_s_ago) == (("slow", "quick"), {}, 5)
    assert [two.looks() for _ in range(2)] == [["quick0"], ["quick0"]]
    assert two.asked == {"slow": 1, "quick": 4}
    assert two.looks() == ["quick0", "slow0"], "after 19 s, and the patience went on meanwhile; newest first"
    two.slow_found = []
    assert two.looks() == ["quick0"]
    assert two.asked == {"slow": 3, "quick": 6}


def test_a_part_that_hangs_is_looked_for_in_each_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_ANSWER_S", 0.2)
    two = TwoParts(tmp_path)
    two.hangs.clear()
    for number in range(1, 4):
        two.quick_found = [_link(f"quick{number}")]
        assert two.looks() == [f"quick{number}"]
        assert two.watch.alarms().unchecked == {"slow": "it does not answer in time"}
    two.slow_found = [_link("slow0")]
    two.hangs.set()
    assert "slow0" in [*two.looks(), *two.looks()]
    assert two.watch.alarms().unchecked == {}


def test_an_alarm_stands_and_is_checked_while_its_check_is_at_rest(tmp_path: Path) -> None:
    two = TwoParts(tmp_path)
    two.slow_found, two.slow_s = [_link("slow0")], 1.0
    assert two.looks() == ["slow0"]
    assert two.looks() == ["slow0"]
    assert two.watch.alarms().alarms[0].checked


def test_commits_that_keep_coming_do_not_take_its_rest_from_what_is_slow_to_read(tmp_path: Path) -> None:
    two = TwoParts(tmp_path)
    two.slow_s = 1.0
    engine: Any = two.watch._router.engine

    def commit() -> None:
        engine.revision += 1

    two.quick_reads = commit
    for _ in range(4):
        two.looks(after_s=1)
    assert two.asked == {"slow": 1, "quick": 4}


def test_what_is_read_while_another_revision_comes_to_run_is_not_judged(watched: Watched) -> None:
    def commit() -> None:
        watched.router.engine.revision += 1

    watched.router.reading = commit
    assert watched.looks(_link()) == []
    watched.router.reading = lambda: None
    assert watched.looks(_link()) == ["wan0"]


def test_alarms_outlive_a_restart_of_the_agent_with_their_age(watched: Watched) -> None:
    watched.looks(_link(), _link("wan1"))
    watched.clock.wait(100)
    watched.restarted()
    assert [alarm.for_s for alarm in watched.watch.alarms().alarms] == [100, 100]
    assert watched.looks(_link()) == ["wan0"]
    assert watched.log() == [("raised", "wan0"), ("raised", "wan1"), ("cleared", "wan1")]


def test_alarms_of_one_check_are_bounded_and_the_rest_is_counted(watched: Watched) -> None:
    names = watched.looks(*(_link(f"e{at}") for at in range(MOST_FINDINGS + 40)))
    assert len(names) == MOST_FINDINGS + 1
    more = next(one for one in watched.watch.alarms().alarms if one.kind == "more_alarms")
    assert more.summary.startswith("40 more alarms")


def test_texts_of_others_are_cut(watched: Watched) -> None:
    watched.looks(Finding("bgp_down", "192.0.2.1", "major", "x" * 9000, "", {"reason": "y" * 9000}))
    (alarm,) = watched.watch.alarms().alarms
    assert len(alarm.summary) == len(alarm.evidence["reason"]) == 300


def test_the_log_is_filtered_and_paged(watched: Watched) -> None:
    for at in range(5):
        watched.looks(_link(f"e{at}"))
    found = watched.watch.events(EventsQuery(event="raised", limit=2, offset=1))
    assert ([event.object for event in found.events], found.total) == (["e3", "e2"], 5)
    assert watched.log(object="e1") == [("raised", "e1"), ("cleared", "e1")]
    assert watched.log(kind="bgp_down") == watched.log(severity="critical") == []


def _event(number: int, text: str = "") -> AlarmEvent:
    return AlarmEvent(
        number=number, time="2026-11-23T08:00:00.000Z", event="raised", kind="link_down",
        object=f"e{number}", severity="major", summary=text, revision=1,
    )  # fmt: skip


def _numbers(log: EventLog) -> list[int]:
    return [event.number for event in log.find(EventsQuery(limit=1000)).events]


def test_the_log_is_bounded_on_disk_and_the_oldest_go_first(tmp_path: Path) -> None:
    log = EventLog(tmp_path, file_bytes=10_000)
    for number in range(1, 200):
        log.add([_event(number, "x" * 100)])
        on_disk = sum(path.stat().st_size for path in (tmp_path / "events").iterdir())
        assert on_disk == log.usage["used_bytes"] <= log.usage["quota_bytes"] == 20_000
    read = _numbers(EventLog(tmp_path, file_bytes=10_000))
    assert read[0] == 199 and len(read) > 30
    assert read == list(range(199, 199 - len(read), -1))


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    for number in (1, 2, 3):
        log.add([_event(number)])
    path = tmp_path / "events" / "now.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"\x00\xff{" + lines[1][3:] + lines[2] + b'{"number": 4, "unfin')
    again = EventLog(tmp_path)
    assert _numbers(again) == [3, 1]
    again.add([_event(4)])
    assert _numbers(EventLog(tmp_path)) == [4, 3, 1]


@pytest.mark.parametrize("what", ["folder", "link", "file"])
def test_what_is_in_the_way_of_the_log_is_set_aside(tmp_path: Path, what: str) -> None:
    directory = tmp_path / "events"
    if what == "folder":
        (directory / "now.jsonl" / "more").mkdir(parents=True)
    elif what == "link":
        directory.symlink_to("/nonexistent")
    else:
        directory.write_text("no folder")
    log = EventLog(tmp_path)
    log.add([_event(1)])
    assert _numbers(EventLog(tmp_path)) == [1]


def test_a_disk_that_takes_nothing_leaves_the_events_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = EventLog(tmp_path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("appliance.engine.durable.append", full)
        log.add([_event(1)])
    log.add([_event(2)])
    assert _numbers(log) == [2, 1]
    assert _numbers(EventLog(tmp_path)) == [2]


def test_what_takes_long_to_mend_holds_no_look_up_and_is_not_begun_twice(tmp_path: Path) -> None:
    begun, goes_on, ended = threading.Semaphore(0), threading.Event(), threading.Semaphore(0)

    def mend(_router: Any, look: Look[list[Finding]]) -> None:
        if not look.now:
            return
        begun.release()
        goes_on.wait(30)
        ended.release()
        raise BackendUnavailable("frr", "away")

    router, clock = _Router(found=[_link()]), ToyClock()
    given: Any = router
    checks = (Check("links", _read, _judge, mends=mend),)
    watch = HealthWatch(given, EventLog(tmp_path), checks, clock)
    for _ in range(3):
        clock.wait(5)
        watch.look()
    assert [alarm.object for alarm in watch.alarms().alarms] == ["wan0"]
    assert begun.acquire(timeout=10)
    assert not begun.acquire(blocking=False), "the first one still mends"
    goes_on.set()
    assert ended.acquire(timeout=10)
    for _ in range(200):
        watch.look()
        if begun.acquire(timeout=0.05):
            break
    else:
        pytest.fail("it is mended no more after a mend that failed")
    watch.stop()
