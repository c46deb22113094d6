"""When a child of the web half is restarted, and what the parent reports of it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from typing import Any

import pytest

from webui.alarms.parts import DoesNotWork
from webui.alarms.parts import parts as alarm_parts
from webui.logging_config import JsonLines
from webui.processes import board as shared
from webui.processes.board import Board, Standing
from webui.processes.child import process_name
from webui.processes.parent import how
from webui.processes.parts import arguments, parts
from webui.processes.restarts import LONGEST_DELAY_S, STEADY_S, Restarts


def test_a_child_that_ran_steadily_starts_at_once_and_one_that_fails_at_once_waits_longer_each_time() -> None:
    restarts = Restarts()
    assert restarts.delay_s(STEADY_S) == 0
    delays = [restarts.delay_s(0.1) for _ in range(40)]
    assert delays[:5] == [1, 2, 4, 8, 16]
    assert set(delays[5:]) == {LONGEST_DELAY_S}
    assert restarts.in_a_row == 40
    assert restarts.delay_s(STEADY_S + 1) == 0
    assert restarts.delay_s(0.1) == 1


def test_one_that_runs_on_has_started_well() -> None:
    restarts = Restarts()
    restarts.delay_s(1)
    restarts.steady()
    assert (restarts.in_a_row, restarts.delay_s(1)) == (0, 1)


def test_without_a_broker_there_is_only_the_server(settings: Any) -> None:
    settings.CELERY_BROKER_URL = None
    assert [part.name for part in parts({})] == ["server"]
    settings.CELERY_BROKER_URL = "redis+socket:///nowhere"
    found = {part.name: part for part in parts({})}
    assert set(found) == {"server", "worker", "scheduler"}
    server = found.pop("server")
    assert server.vital and not any(part.vital for part in found.values())
    for part in found.values():
        assert part.nice > server.nice, "pages come first"
        assert part.oom_score_adj > server.oom_score_adj > 500


def test_a_process_has_a_name_that_the_kernel_takes_whole() -> None:
    assert all(len(process_name(name)) <= 15 for name in ("server", "worker", "scheduler"))


def test_uvicorn_is_told_only_what_was_given() -> None:
    given = {"uds": None, "host": "127.0.0.1", "port": 8443, "fd": None, "verbosity": 1}
    assert arguments(given) == {"host": "127.0.0.1", "port": 8443}


def test_an_end_is_told_in_words() -> None:
    assert (how(1), how(-9)) == ("with exit code 1", "by SIGKILL")


def test_log_lines_say_which_process_wrote_them(monkeypatch: pytest.MonkeyPatch) -> None:
    record = logging.LogRecord("webui", logging.INFO, __file__, 1, "done", None, None)
    assert "process" not in json.loads(JsonLines().format(record))
    monkeypatch.setattr(JsonLines, "process", "worker")
    assert json.loads(JsonLines().format(record))["process"] == "worker"


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (Standing(pid=7), ""),
        (Standing(pid=7, in_a_row=1, exit_code=1), ""),
        (
            Standing(pid=0, in_a_row=2, exit_code=-9),
            "it ended 2 times soon after its start, lastly by SIGKILL",
        ),
    ],
)
def test_a_scheduler_that_does_not_stay_up_is_a_part_that_is_down(
    standing: Standing, words: str, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.CELERY_BROKER_URL = "redis+socket:///nowhere"
    board = Board(["server", "worker", "scheduler"])
    board.write("scheduler", standing)
    monkeypatch.setattr(shared, "board", board)
    (part,) = [part for part in alarm_parts() if part.name == "scheduler"]
    if not words:
        part.check()
        return
    with pytest.raises(DoesNotWork, match=words):
        part.check()


def test_a_web_half_that_was_not_forked_does_not_look_at_a_scheduler(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.CELERY_BROKER_URL = "redis+socket:///nowhere"
    monkeypatch.setattr(shared, "board", None)
    assert "scheduler" not in [part.name for part in alarm_parts()]


def test_the_client_of_the_agent_does_not_load_httpx_s_command_line() -> None:
    code = "import sys, appliance.client, httpx; print('httpx' in sys.modules, 'rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
