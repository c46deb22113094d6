"""A disk that is full, cannot be written, or returns something else: the router rolls back all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from appliance.engine import durable
from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import (
    CONFIRMED,
    UNCONFIRMED,
    Router,
    commit,
    document,
    pending_of,
    router,
    unconfirmed,
)


@pytest.fixture
def toy(tmp_path: Path) -> Router:
    return router(tmp_path / "state")


def _full_disk(toy: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    """No byte can be written while the agent's reserve takes the last of the disk."""

    def on_full(write: Callable[..., None]) -> Callable[..., None]:
        def full(path: Path, *more: Any) -> None:
            if path.is_relative_to(toy.directory) and list((toy.directory / "reserve").iterdir()):
                raise OSError(28, "No space left on device")
            write(path, *more)

        return full

    for name in ("write", "write_whole"):
        monkeypatch.setattr(durable, name, on_full(getattr(durable, name)))


def test_on_a_full_disk_a_commit_is_refused_and_changes_nothing(
    toy: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = toy.engine()
    commit(engine, CONFIRMED)
    before = toy.live()
    _full_disk(toy, monkeypatch)
    toy.plane.log.clear()
    result = engine.commit(CommitRequest(UNCONFIRMED, CommitOptions(author="alice")))
    assert result.error is not None
    assert result.error.kind == "storage"
    assert str(toy.directory) in result.error.message
    assert (toy.live(), toy.plane.log, engine.revision) == (before, [], 1)


def test_on_a_full_disk_a_rollback_goes_back(toy: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, before = unconfirmed(toy)
    _full_disk(toy, monkeypatch)
    assert engine.rollback(1, CommitOptions(author="bob")).state == "done"
    assert (engine.revision, engine.pending_confirm(), toy.live()) == (3, None, before)


def test_on_a_full_disk_the_timer_goes_back(toy: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, before = unconfirmed(toy)
    _full_disk(toy, monkeypatch)
    toy.clock.wait(60)
    engine.tick()
    assert (engine.revision, engine.pending_confirm(), toy.live()) == (3, None, before)
    again = toy.engine()
    again.recover()
    assert (again.revision, toy.live()) == (3, before)


def test_a_rollback_that_cannot_be_recorded_leaves_the_watch_that_stood(
    toy: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise an agent that starts then forgets that the revision has to be rolled back automatically."""
    engine = toy.engine()
    commit(engine, CONFIRMED)
    before = SimpleNamespace(begin=lambda: None, end=lambda _: {"readings": {}})
    watched: Any = SimpleNamespace(ahead=lambda _: None, look=lambda *_: before, begun=lambda: None)
    engine.watched.observer = watched
    assert engine.commit(CommitRequest(UNCONFIRMED, CommitOptions(author="alice", watch_s=60))).rolls_back

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(engine._committer.confirmation, "prepare", full)
    assert engine.rollback(1, CommitOptions(author="bob", confirm_s=60)).state == "failed"
    assert engine.revision == 2
    again = toy.engine()
    again.recover()
    armed = again.watched.watches.armed
    assert armed is not None and armed.revision == 2


def test_on_a_full_disk_a_commit_can_be_confirmed(toy: Router, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, _ = unconfirmed(toy)
    _full_disk(toy, monkeypatch)
    assert engine.confirm("bob") == 2
    toy.clock.wait(100)
    engine.tick()
    assert engine.revision == 2


def test_a_disk_that_cannot_be_written_at_all_does_not_keep_the_router(
    toy: Router, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, before = unconfirmed(toy)

    def read_only(path: Path, data: bytes, mode: int = 0o600) -> None:
        raise OSError(30, "Read-only file system")

    with monkeypatch.context() as patch:
        for name in ("write", "write_whole"):
            patch.setattr(durable, name, read_only)
        toy.clock.wait(60)
        engine.tick()
        assert toy.live() == before
        assert any("cannot be recorded: Read-only" in line for line in engine.seen.drift)
        engine.tick()
        assert toy.live() == before
    engine.tick()
    assert (engine.revision, engine.pending_confirm(), engine.seen.drift) == (3, None, ())
    assert toy.live() == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pending": 7, "next": null}'])
def test_a_damaged_timer_begins_anew_and_stops_nothing(toy: Router, text: str) -> None:
    _, before = unconfirmed(toy)
    (toy.directory / "pending.json").write_text(text)
    engine = toy.engine()
    engine.recover()
    assert pending_of(engine)["seconds_left"] == 60
    toy.clock.wait(60)
    engine.tick()
    assert (engine.revision, toy.live()) == (3, before)


def test_a_timer_of_an_earlier_version_is_read(toy: Router) -> None:
    unconfirmed(toy)
    old = {"revision": 2, "rollback_to": 1, "expires_at_s": 1_000_060.0, "confirm_s": 60.0}
    (toy.directory / "pending.json").write_text(json.dumps(old))
    engine = toy.engine()
    engine.recover()
    assert (pending_of(engine)["revision"], pending_of(engine)["seconds_left"]) == (2, 60)


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_damaged_journal_is_an_open_one(toy: Router, text: str) -> None:
    engine = toy.engine()
    commit(engine, document("198.51.100.0/24", system={"drift_policy": "report"}))
    before = toy.live()
    (toy.directory / "journal.json").write_text(text)
    toy.plane.state["interface lo7"] = "half of a commit"
    toy.engine().recover()
    assert toy.live() == before
