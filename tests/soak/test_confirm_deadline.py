"""Measured on a real agent whose router is a pair of files: how soon an unconfirmed revision is gone.

Within two seconds of the deadline, or of the return of the backend that was down then.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from appliance.errors import StorageFull
from appliance.state.commit_options import CommitOptions
from tests.integration.agent.harness import AgentProcess
from tests.requirements import needs_root_netns
from tests.unit.engine.toys import document

WITHIN_S = 2.0
CONFIRM_S = 3.0
KILLS = 12
CONFIRMED = document("198.51.100.0/24")
UNCONFIRMED = document(*(f"203.0.113.{number * 8}/29" for number in range(8)))


def _unconfirmed(agent: AgentProcess) -> tuple[dict[str, dict[str, str]], float]:
    """The router as it was confirmed, and when the timer ends by this process's clock."""
    agent.client.commit(CONFIRMED, CommitOptions(author="alice"))
    before = agent.live()
    agent.client.commit(UNCONFIRMED, CommitOptions(author="alice", confirm_s=CONFIRM_S))
    pending = agent.client.status().pending_confirm
    assert pending is not None and agent.live() != before
    return before, time.monotonic() + float(pending["seconds_left"])


def _late_s(reached: Callable[[], bool], deadline_s: float) -> float:
    while not reached():
        assert time.monotonic() < deadline_s + 30, "it never went back"
        time.sleep(0.01)
    return time.monotonic() - deadline_s


def _say(what: str, late_s: float) -> None:
    print(f"{what}: back {max(late_s, 0.0):.2f} s after it was due")
    assert late_s <= WITHIN_S


def test_nothing_else_is_wrong(tmp_path: Path) -> None:
    with AgentProcess(tmp_path) as agent:
        before, deadline_s = _unconfirmed(agent)
        _say("plain", _late_s(lambda: agent.live() == before, deadline_s))


@pytest.mark.parametrize(("name", "backend"), [("plane", "linux"), ("routing", "frr")])
def test_a_backend_is_down_at_the_deadline(tmp_path: Path, name: str, backend: str) -> None:
    with AgentProcess(tmp_path) as agent:
        before, deadline_s = _unconfirmed(agent)
        (tmp_path / f"{name}.down").touch()
        other = "frr" if backend == "linux" else "linux"
        _say(
            f"{other} while {backend} is down",
            _late_s(lambda: agent.live()[other] == before[other], deadline_s),
        )
        time.sleep(max(0.0, deadline_s - time.monotonic()) + 2)
        assert agent.client.status()["waiting"] == [backend]
        (tmp_path / f"{name}.down").unlink()
        returned_s = time.monotonic()
        _say(f"{backend} after its return", _late_s(lambda: agent.live() == before, returned_s))


@pytest.mark.parametrize("number", range(KILLS))
def test_killed_while_it_rolls_back(tmp_path: Path, number: int) -> None:
    with AgentProcess(tmp_path, step_s=0.05) as agent:
        before, deadline_s = _unconfirmed(agent)
        time.sleep(max(0.0, deadline_s - time.monotonic() + number * 0.05))
        agent.kill()
        agent.start()
        _say(f"killed {number * 50} ms after", _late_s(lambda: agent.live() == before, time.monotonic()))
        assert agent.client.status().pending_confirm is None


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Where the state goes: a disk of 24 MiB."""
    place = tmp_path / "state"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=0700", "none", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def _fill(place: Path) -> None:
    with (place / "somebody's logs").open("wb", buffering=0) as file:
        size = 1024 * 1024
        while size >= 1:
            try:
                file.write(b"x" * size)
            except OSError:
                size //= 2


@needs_root_netns
def test_the_disk_is_full(tmp_path: Path, small_disk: Path) -> None:
    with AgentProcess(tmp_path) as agent:
        before, deadline_s = _unconfirmed(agent)
        _fill(small_disk)
        _say("full disk", _late_s(lambda: agent.live() == before, deadline_s))
        _refused(agent, before)
        assert agent.client.rollback(0, CommitOptions(author="bob")).state == "done"
        (small_disk / "somebody's logs").unlink()
        deadline_s = time.monotonic() + 15
        while (answer := _tried(agent)) is None:
            assert time.monotonic() < deadline_s
            time.sleep(0.2)
        assert answer.state == "done"


def _refused(agent: AgentProcess, before: dict[str, Any]) -> None:
    with pytest.raises(StorageFull, match="full"):
        agent.client.commit(UNCONFIRMED, CommitOptions(author="alice"))
    assert agent.live() == before


def _tried(agent: AgentProcess) -> Any:
    try:
        return agent.client.commit(CONFIRMED, CommitOptions(author="alice"))
    except StorageFull:
        return None
