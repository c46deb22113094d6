"""The traces of an agent: one at a time, always removed, and what a killed agent left."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import pytest

from appliance.errors import Conflict, NotFound
from appliance.state.traces import MOST_KEPT, TracedPacket, TraceState, TraceStep, TraceWanted
from appliance.tracing.traces import PacketTraces, Seen, TraceFailed

WANTED = TraceWanted(interface="wan0", packets=3, seconds=60)
PACKET = TracedPacket(
    number=1,
    thread="vpp_main",
    summary="",
    end="ip4-drop",
    dropped=True,
    steps=(TraceStep(node="ip4-drop", at_s=1.0, lines=()),),
)


class Scripted:
    """A VPP that traces what a test says."""

    def __init__(self) -> None:
        self.booted_s, self.armed = 1000, 0
        self.seen = Seen((), 0)
        self.begin_fails: Exception | None = None
        self.ended = threading.Event()

    def started_s(self) -> int:
        return self.booted_s

    def begin(self, wanted: TraceWanted) -> None:
        if self.begin_fails is not None:
            raise self.begin_fails
        self.ended.clear()
        self.armed += 1

    def look(self, wanted: TraceWanted) -> Seen:
        return self.seen

    def end(self) -> None:
        self.armed = 0
        self.ended.set()


class Setting:
    def __init__(self, folder: Path) -> None:
        self.mark, self.vpp = folder / "trace.json", Scripted()
        self.traces = self.started()

    def started(self) -> PacketTraces:
        return PacketTraces(self.mark, lambda: self.vpp)

    def ended(self, state: TraceState) -> TraceState:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            now = self.traces.result(state.id).trace
            if now.state != "running":
                return now
            time.sleep(0.01)
        raise AssertionError("it never ended")


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def test_a_trace_ends_when_its_packets_are_there_and_is_taken_away(setting: Setting) -> None:
    setting.vpp.seen = Seen((PACKET,) * 3, 3)
    state = setting.traces.start(WANTED, "nina")
    assert (state.state, state.author, setting.mark.exists()) == ("running", "nina", True)
    ended = setting.ended(state)
    assert (ended.state, ended.ended, ended.packets) == ("done", "the limit of 3 packets was reached", 3)
    assert setting.traces.result(state.id).packets == (PACKET,) * 3
    assert setting.vpp.armed == 0 and not setting.mark.exists()


def test_one_runs_at_a_time_and_is_stopped_removed_and_forgotten(setting: Setting) -> None:
    state = setting.traces.start(WANTED, "nina")
    with pytest.raises(Conflict, match="one at a time"):
        setting.traces.start(WANTED, "omar")
    with pytest.raises(Conflict, match="stop it first"):
        setting.traces.remove(state.id)
    assert setting.traces.stop(state.id).ended == "it was stopped"
    assert setting.traces.stop(state.id).state == "done"
    setting.traces.remove(state.id)
    for ask in (setting.traces.result, setting.traces.stop, setting.traces.remove):
        with pytest.raises(NotFound):
            ask(state.id)


def test_the_last_ones_are_kept(setting: Setting) -> None:
    setting.vpp.seen = Seen((PACKET,) * 3, 3)
    ids = [setting.ended(setting.traces.start(WANTED, "nina")).id for _ in range(MOST_KEPT + 1)]
    assert [one.id for one in setting.traces.all()] == list(reversed(ids[1:]))


def test_packets_of_other_interfaces_use_up_the_room_and_the_reason_says_so(setting: Setting) -> None:
    setting.vpp.seen = Seen((PACKET,), 3)
    ended = setting.ended(setting.traces.start(WANTED, "nina"))
    assert ended.ended == "the limit of 3 packets was reached, 2 of them of other interfaces"
    assert ended.packets == 1


def test_what_cannot_begin_leaves_nothing(setting: Setting) -> None:
    setting.vpp.begin_fails = NotFound("VPP has no interface wan0")
    with pytest.raises(NotFound):
        setting.traces.start(WANTED, "nina")
    assert not setting.mark.exists() and setting.traces.all() == ()
    setting.vpp.begin_fails = None
    setting.traces.stop(setting.traces.start(WANTED, "nina").id)


def test_a_vpp_that_restarts_ends_the_trace(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appliance.tracing.traces._FIRST_LOOK_S", 0.01)
    answers = iter([1000, 1000, 2000])
    monkeypatch.setattr(setting.vpp, "started_s", lambda: next(answers, 2000))
    ended = setting.ended(setting.traces.start(WANTED, "nina"))
    assert (ended.state, ended.ended) == ("failed", "VPP was restarted: what it had traced is gone")


def test_a_look_that_fails_ends_the_trace_and_takes_it_away(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: TraceWanted) -> Seen:
        raise TraceFailed("VPP says no")

    monkeypatch.setattr(setting.vpp, "look", fails)
    ended = setting.ended(setting.traces.start(WANTED, "nina"))
    assert (ended.state, ended.ended, setting.vpp.armed) == ("failed", "VPP says no", 0)


def test_what_a_killed_agent_left_is_taken_away_by_the_next(setting: Setting) -> None:
    setting.mark.write_text(json.dumps({"data_plane_started_s": 1000}))
    setting.vpp.armed = 1
    traces = setting.started()
    assert traces.has_left
    traces.tidy()
    assert setting.vpp.armed == 0 and not traces.has_left


def test_a_trace_of_somebody_else_in_a_vpp_that_was_restarted_stays(setting: Setting) -> None:
    setting.mark.write_text(json.dumps({"data_plane_started_s": 900}))
    setting.vpp.armed = 1
    setting.started().tidy()
    assert setting.vpp.armed == 1 and not setting.mark.exists()


def test_a_mark_that_is_damaged_counts_as_left(setting: Setting) -> None:
    setting.mark.write_bytes(b"{")
    setting.vpp.armed = 1
    setting.started().tidy()
    assert setting.vpp.armed == 0 and not setting.mark.exists()


def test_an_agent_that_ends_takes_its_trace_away(setting: Setting) -> None:
    setting.traces.start(WANTED, "nina")
    setting.traces.close()
    assert setting.vpp.ended.is_set() and not setting.mark.exists()
