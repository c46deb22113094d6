"""The parent of the web half's processes: which ones it starts, restarts, reports and ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.live_lab import wait_until
from webui.processes.board import Board, Standing


class Running:
    """A parent, and what it and its children said."""

    def __init__(self, directory: Path, *parts: str) -> None:
        self.log = directory / "log"
        argv = [sys.executable, "-m", "tests.integration.web.forked_parts", *parts]
        with self.log.open("wb") as stream:
            self.process = subprocess.Popen(argv, stdout=stream, stderr=stream)

    def pids(self, name: str) -> list[int]:
        """Of each of the part's processes, in the order of their starts."""
        return [int(found) for found in re.findall(rf"^{name} (\d+)$", self.log.read_text(), re.MULTILINE)]

    def started(self, name: str, times: int = 1) -> int:
        """The process id of the part's latest start, once there were so many."""
        wait_until(lambda: len(self.pids(name)) >= times, timeout_s=30, what=f"{name} started {times} times")
        return self.pids(name)[-1]


Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Running] = []

    def begin(*parts: str) -> Running:
        started.append(Running(tmp_path, *parts))
        return started[-1]

    yield begin
    for running in started:
        running.process.kill()
        running.process.wait(20)


def _lives(pid: int) -> bool:
    """Whether it runs; a zombie counts as dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_child_that_is_killed_is_forked_anew_and_the_others_stay(start: Start) -> None:
    running = start("pages=Sleeps", "jobs=sleeps")
    pages, first = running.started("pages"), running.started("jobs")
    os.kill(first, signal.SIGKILL)
    second = running.started("jobs", 2)
    assert second != first and _lives(second) and not _lives(first)
    assert running.pids("pages") == [pages] and _lives(pages)
    assert "the part jobs ended by SIGKILL" in running.log.read_text()
    assert running.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_signal_that_ends_the_parent_ends_all(start: Start, number: signal.Signals) -> None:
    running = start("pages=Sleeps", "jobs=sleeps")
    pids = [running.started("pages"), running.started("jobs")]
    running.process.send_signal(number)
    assert running.process.wait(30) == 0
    assert not any(map(_lives, pids))


def test_a_child_that_does_not_end_is_killed(start: Start) -> None:
    running = start("pages=Sleeps", "jobs=stubborn")
    pids = [running.started("pages"), running.started("jobs")]
    running.process.terminate()
    assert running.process.wait(30) == 0
    assert not any(map(_lives, pids))
    assert "the part jobs did not end" in running.log.read_text()


def test_a_child_that_fails_at_once_is_tried_again_after_growing_delays_that_are_told(start: Start) -> None:
    running = start("pages=Sleeps", "jobs=fails")
    pages = running.started("pages")
    running.started("jobs", 3)
    wait_until(lambda: running.log.read_text().count("the part jobs ended") == 3, timeout_s=30, what="3 ends")
    told = re.findall(r"the part jobs ended with exit code 3 after .* in (\d+) s", running.log.read_text())
    assert told == ["1", "2", "4"]
    assert _lives(pages) and running.pids("pages") == [pages]


def test_the_error_that_ends_a_child_is_in_the_log(start: Start) -> None:
    running = start("jobs=raises")
    wait_until(
        lambda: "the part jobs ended with exit code 1" in running.log.read_text(), timeout_s=30, what="end"
    )
    assert "ValueError: no such thing" in running.log.read_text()


def test_without_a_vital_part_that_stays_up_the_parent_ends_and_says_so(start: Start) -> None:
    running = start("jobs=sleeps", "pages=Fails")
    jobs = running.started("jobs")
    assert running.process.wait(30) == 1
    assert len(running.pids("pages")) == 1
    assert "the part pages does not stay up" in running.log.read_text()
    assert not _lives(jobs)


def test_a_vital_part_that_is_killed_again_and_again_is_given_up(start: Start) -> None:
    running = start("pages=Sleeps")
    for times in (1, 2, 3, 4):
        assert running.process.poll() is None
        os.kill(running.started("pages", times), signal.SIGKILL)
    assert running.process.wait(30) == 1


def test_the_death_of_the_parent_takes_the_children_along(start: Start) -> None:
    running = start("pages=Sleeps", "jobs=stubborn")
    pids = [running.started("pages"), running.started("jobs")]
    running.process.kill()
    running.process.wait(20)
    wait_until(lambda: not any(map(_lives, pids)), timeout_s=20, what="no child lives")


def test_the_board_is_read_by_who_was_forked_after_it_was_made() -> None:
    board = Board(["server", "worker"])
    board.write("worker", Standing(4_000_000, 3, -9))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        board.write("server", Standing(1, 0, 0))
        os.write(writing, repr(board.read()["worker"]).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 1000).decode() == repr(Standing(4_000_000, 3, -9))
    assert board.read()["server"] == Standing(1, 0, 0)
    os.close(reading)
    os.close(writing)
