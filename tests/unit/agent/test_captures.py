"""The captures that are kept: limits, what a full list and a full disk do, and what another agent left."""

from __future__ import annotations

import json
import struct
import threading
import time
from pathlib import Path

import pytest

from appliance.capture.captures import CaptureFiles
from appliance.capture.pcap_file import Records
from appliance.capture.source import CaptureFailed, Ended
from appliance.engine.reserve import Room
from appliance.errors import Conflict, NotFound, StorageFull
from appliance.state.captures import KEPT_BYTES, MOST_KEPT, CaptureState, CaptureWanted
from tests.unit.agent.test_pcap_file import HEADER, record

WANTED = CaptureWanted(interface="lan0")


class Scripted:
    """A source that returns what the test sets."""

    note = "scripted"

    def __init__(self, data: bytes, failure: Exception | None = None, waits: bool = False) -> None:
        self.data, self.failure, self.waits = data, failure, waits
        self.go_on = threading.Event()

    def begin(self, wanted: CaptureWanted) -> None:
        """Does nothing."""

    def run(self, wanted: CaptureWanted, records: Records, stop: threading.Event) -> Ended:
        records.feed(self.data)
        if self.waits:
            stop.wait(20)
        if self.failure is not None:
            raise self.failure
        return Ended(records.full or ("it was stopped" if stop.is_set() else "time"), 3)


class Setting:
    """CaptureFiles with a source and a disk of the test's."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.source = folder, Scripted(HEADER + record(60) * 3)
        self.room = Room(10**9, 10**6)
        self.files = self.made()

    def made(self) -> CaptureFiles:
        return CaptureFiles(self.folder, lambda: self.room, lambda _: None, lambda: self.source)

    def finished(self, wanted: CaptureWanted = WANTED) -> CaptureState:
        state = self.files.start(wanted, "nina")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            now = next(one for one in self.files.all() if one.id == state.id)
            if now.state != "running":
                return now
            time.sleep(0.005)
        raise AssertionError("it never ended")


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path / "captures")


def test_a_capture_ends_is_read_in_parts_and_removed(setting: Setting) -> None:
    state = setting.finished()
    assert (state.state, state.packets, state.lost, state.ended) == ("done", 3, 3, "time")
    whole = setting.source.data
    assert state.size_bytes == len(whole)
    assert setting.files.read(state.id, 0, 10) + setting.files.read(state.id, 10, 10**9) == whole
    assert setting.files.read(state.id, len(whole), 10) == b""
    path = setting.folder / f"{state.id}.pcap"
    assert (path.stat().st_mode & 0o777, setting.folder.stat().st_mode & 0o777) == (0o600, 0o700)
    setting.files.remove(state.id)
    assert list(setting.folder.iterdir()) == []
    for call in (setting.files.stop, setting.files.remove, lambda name: setting.files.read(name, 0, 1)):
        with pytest.raises(NotFound):
            call(state.id)


def test_one_that_runs_is_counted_stopped_and_not_read_or_removed_before(setting: Setting) -> None:
    setting.source.waits = True
    state = setting.files.start(WANTED, "nina")
    end = time.monotonic() + 10
    while not (now := setting.files.all()[0]).packets and time.monotonic() < end:
        time.sleep(0.005)
    assert (now.state, now.packets, now.author) == ("running", 3, "nina")
    with pytest.raises(Conflict, match="stop it first"):
        setting.files.remove(state.id)
    with pytest.raises(Conflict, match="stop it first"):
        setting.files.read(state.id, 0, 10)
    setting.files.start(WANTED, "nina")
    with pytest.raises(Conflict, match="2 captures run already"):
        setting.files.start(WANTED, "nina")
    ended = setting.files.stop(state.id)
    assert (ended.state, ended.ended) == ("done", "it was stopped")
    setting.files.close()
    assert {one.state for one in setting.files.all()} == {"done"}


def test_the_oldest_goes_when_there_are_many(setting: Setting) -> None:
    states = [setting.finished() for _ in range(MOST_KEPT + 3)]
    kept = setting.files.all()
    assert [one.id for one in kept] == [one.id for one in reversed(states[3:])]
    assert len(list(setting.folder.iterdir())) == 2 * MOST_KEPT


def test_the_oldest_goes_when_they_are_large(setting: Setting) -> None:
    sizes = iter((KEPT_BYTES - 2**20,))
    first = setting.finished()
    large = first.model_copy(update={"size_bytes": next(sizes)})
    setting.files._ended[first.id] = large
    second = setting.finished(WANTED.model_copy(update={"size_bytes": 2**21}))
    assert [one.id for one in setting.files.all()] == [second.id]


def test_a_disk_without_room_is_left_alone(setting: Setting) -> None:
    setting.room = Room(WANTED.size_bytes + 10**6 - 1, 10**6)
    with pytest.raises(StorageFull, match="no room for a capture of 16,777,216 bytes"):
        setting.files.start(WANTED, "nina")
    assert list(setting.folder.iterdir()) == []
    setting.room = Room(WANTED.size_bytes + 10**6, 10**6)
    assert setting.finished().state == "done"


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (CaptureFailed("VPP was restarted"), "VPP was restarted"),
        (OSError(28, "No space left on device"), "the disk is full"),
        (RuntimeError("odd"), "odd"),
    ],
)
def test_one_that_fails_says_why_and_keeps_what_it_has(
    setting: Setting, failure: Exception, said: str
) -> None:
    setting.source.failure = failure
    state = setting.finished()
    assert (state.state, state.ended, state.packets) == ("failed", said, 3)
    assert setting.files.read(state.id, 0, 10**6) == setting.source.data


def test_what_does_not_begin_leaves_nothing(setting: Setting) -> None:
    def refuse(_: CaptureWanted) -> None:
        raise CaptureFailed("no such device")

    setting.source.begin = refuse  # type: ignore[assignment,method-assign]
    for _ in range(5):
        with pytest.raises(CaptureFailed):
            setting.files.start(WANTED, "nina")
    assert setting.files.all() == ()
    assert list(setting.folder.iterdir()) == []


def test_one_whose_file_cannot_be_made_is_ended(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    setting.source.waits = True
    ended: list[bool] = []

    def run(wanted: CaptureWanted, records: Records, stop: threading.Event) -> Ended:
        ended.append(stop.is_set())
        return Ended("it was stopped")

    def full(_: Path) -> int:
        raise OSError(28, "No space left on device")

    setting.source.run = run  # type: ignore[method-assign]
    monkeypatch.setattr("appliance.capture.captures.durable.new_file", full)
    with pytest.raises(StorageFull, match="the disk is full"):
        setting.files.start(WANTED, "nina")
    assert (ended, setting.files.all()) == ([True], ())
    assert list(setting.folder.iterdir()) == []


def test_what_is_refused_costs_no_capture_that_is_kept(setting: Setting) -> None:
    kept = [setting.finished().id for _ in range(MOST_KEPT)]

    def refuse(_: CaptureWanted) -> None:
        raise CaptureFailed("no such device")

    begin, setting.source.begin = setting.source.begin, refuse  # type: ignore[assignment,method-assign]
    with pytest.raises(CaptureFailed):
        setting.files.start(WANTED, "nina")
    room, setting.room = setting.room, Room(0, 10**6)
    with pytest.raises(StorageFull):
        setting.files.start(WANTED, "nina")
    assert [one.id for one in reversed(setting.files.all())] == kept
    setting.source.begin, setting.room = begin, room  # type: ignore[method-assign]
    assert setting.finished().id not in kept
    assert [one.id for one in reversed(setting.files.all())][:-1] == kept[1:]


def test_captures_that_begin_together_share_the_room(setting: Setting) -> None:
    setting.room = Room(3 * WANTED.size_bytes // 2 + 10**6, 10**6)
    began, go_on = threading.Event(), threading.Event()

    def slow(_: CaptureWanted) -> None:
        began.set()
        go_on.wait(20)

    setting.source.begin = slow  # type: ignore[assignment,method-assign]
    first = threading.Thread(target=setting.files.start, args=(WANTED, "nina"))
    first.start()
    assert began.wait(10)
    with pytest.raises(StorageFull):
        setting.files.start(WANTED, "omar")
    go_on.set()
    first.join()
    setting.files.close()


def test_another_agent_finds_what_ended_and_cuts_short_what_ran(setting: Setting) -> None:
    done = setting.finished()
    setting.source.waits = True
    running = setting.files.start(WANTED, "nina")
    path = setting.folder / f"{running.id}.pcap"
    end = time.monotonic() + 10
    while path.stat().st_size < len(setting.source.data) and time.monotonic() < end:
        time.sleep(0.005)
    left = setting.folder.parent / "left"
    left.mkdir(mode=0o700)
    for file in setting.folder.iterdir():
        (left / file.name).write_bytes(file.read_bytes())
    # As a kill in the middle of a write leaves it.
    with (left / path.name).open("ab") as stream:
        stream.write(struct.pack("<IIII", 1, 2, 60, 60) + b"half")
    (left / "0123456789ab.pcap").write_bytes(b"orphan")
    (left / "abcdefabcdef.json").write_text(json.dumps({"id": "other"}))
    setting.files.close()
    after = CaptureFiles(left, lambda: setting.room, lambda _: None, lambda: setting.source)
    found = {one.id: one for one in after.all()}
    assert set(found) == {done.id, running.id}
    assert found[done.id] == done
    assert (found[running.id].state, found[running.id].ended) == ("failed", "the agent ended while it ran")
    assert after.read(running.id, 0, 10**6) == setting.source.data
    assert len(list(left.iterdir())) == 4
