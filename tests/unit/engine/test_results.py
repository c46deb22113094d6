"""The result of a commit counts from its end, and a thread writes it after the caller has its answer."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from appliance.engine import durable
from appliance.engine.jobs import Jobs
from appliance.engine.records import CommitResult

DONE = CommitResult("one", "done", 2)


class Later(Executor):
    """Does its work when told."""

    def __init__(self) -> None:
        self.work: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.work.append(lambda: fn(*args, **kwargs))
        return Future()


def test_a_result_is_known_before_it_is_written(tmp_path: Path) -> None:
    jobs, disk = Jobs(tmp_path), Later()
    assert jobs.begin("one", "mark") is None
    jobs.finish_soon(DONE, "mark", disk)
    assert jobs.get("one") == jobs.begin("one", "mark") == DONE
    assert Jobs(tmp_path).get("one").state in ("running", "done")
    disk.work.pop()()
    assert jobs.get("one") == Jobs(tmp_path).get("one") == DONE


def test_a_result_that_a_full_disk_did_not_take_is_written_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, disk = Jobs(tmp_path), Later()
    jobs.begin("one", "mark")
    jobs.finish_soon(DONE, "mark", disk)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(durable, "write_whole", full)
        disk.work.pop()()
    assert jobs.get("one") == DONE
    assert Jobs(tmp_path).get("one").state == "running"
    jobs.begin("two", "another mark")
    assert Jobs(tmp_path).get("one") == DONE


def test_a_result_has_one_writer_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two would take the new file from each other before it has its name."""
    jobs, disk = Jobs(tmp_path), Later()
    jobs.begin("one", "mark")
    jobs.finish_soon(DONE, "mark", disk)
    write_whole, written = durable.write_whole, list[str]()

    def beside_a_request(path: Path, data: bytes) -> None:
        written.append(path.name)
        if path.name == "one.json" and len(written) == 1:
            jobs.begin("two", "another mark")
        write_whole(path, data)

    monkeypatch.setattr(durable, "write_whole", beside_a_request)
    disk.work.pop()()
    assert written == ["one.json", "two.json"]
    assert jobs.get("one") == Jobs(tmp_path).get("one") == DONE
