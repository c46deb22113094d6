"""supervisord's configuration, and supervisord itself with harmless programs."""

import configparser
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.leftovers import marked_processes, process_alive
from lab.precedence import LAB_NICE, session_nice
from lab.supervision import Program, Supervisor, render
from tests.requirements import needs_root_netns


def test_words_reach_the_program_as_they_are(tmp_path: Path) -> None:
    program = Program(
        "one", ["/bin/echo", "a b", "100%", ""], environment={"URL": "postgresql://%2Ftmp%2Fx/y"}
    )
    parser = configparser.RawConfigParser()
    parser.read_string(render(tmp_path, [program]))
    section = parser["program:one"]
    assert section["command"] == '"/bin/echo" "a b" "100%%" ""'
    assert 'URL="postgresql://%%2Ftmp%%2Fx/y"' in section["environment"]


def test_what_cannot_be_quoted_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError):
        render(tmp_path, [Program("one", ['say "hello"'])])


def test_a_directory_too_long_for_sockets_is_refused() -> None:
    with pytest.raises(LabError, match="too long"):
        Supervisor(Path("/tmp") / ("x" * 80))


@pytest.fixture
def supervisor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Supervisor]:
    made = Supervisor(tmp_path_factory.mktemp("s"))
    yield made
    made.stop()


def _sleeper(name: str, seconds: int = 300) -> Program:
    return Program(name, ["sleep", str(seconds)])


def test_a_second_start_keeps_what_did_not_change(supervisor: Supervisor) -> None:
    supervisor.start([_sleeper("kept"), _sleeper("changed"), _sleeper("dropped")])
    supervisor.wait_running(20)
    before = {name: supervisor.pid(name) for name in ("kept", "changed")}
    supervisor.start([_sleeper("kept"), _sleeper("changed", 301), _sleeper("added")])
    supervisor.wait_running(20)
    assert set(supervisor.states()) == {"kept", "changed", "added"}
    assert supervisor.pid("kept") == before["kept"]
    assert supervisor.pid("changed") != before["changed"]


def test_a_second_start_starts_what_was_stopped(supervisor: Supervisor) -> None:
    supervisor.start([_sleeper("one")])
    supervisor.wait_running(20)
    supervisor.stop_program("one")
    assert supervisor.states() == {"one": "STOPPED"}
    supervisor.start([_sleeper("one")])
    supervisor.wait_running(20, ["one"])
    assert supervisor.states() == {"one": "RUNNING"}


def test_a_killed_program_comes_back(supervisor: Supervisor) -> None:
    supervisor.start([_sleeper("one")])
    supervisor.wait_running(20)
    first = supervisor.pid("one")
    os.kill(first, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while supervisor.pid("one") in (0, first) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert supervisor.pid("one") not in (0, first)


def test_leftovers_of_a_killed_supervisor_are_ended(supervisor: Supervisor) -> None:
    supervisor.start([_sleeper("one")])
    supervisor.wait_running(20)
    orphan = supervisor.pid("one")
    os.kill(int(supervisor.pid_file.read_text()), signal.SIGKILL)
    supervisor.stop()
    assert not process_alive(orphan)
    assert marked_processes(supervisor.directory) == []


@needs_root_netns
def test_the_labs_session_comes_before_others(supervisor: Supervisor) -> None:
    supervisor.start([_sleeper("first")])
    supervisor.wait_running(20)
    if session_nice(os.getpid()) is None:
        pytest.skip("this kernel gives the CPU to processes, not to sessions")
    assert session_nice(supervisor.pid("first")) == LAB_NICE
    assert session_nice(os.getpid()) != LAB_NICE
