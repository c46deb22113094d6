"""When a commit waits for the disk, and what remains of it when the power is cut at any moment."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from appliance.engine import durable
from appliance.engine.records import CommitRequest
from appliance.state.commit_options import CommitOptions
from tests.unit.engine.toys import (
    CONFIRMED,
    UNCONFIRMED,
    Killed,
    commit,
    compile_toy,
    document,
    dying,
    router,
)

_LAST = 17
"""More operations than a commit with a timer has."""


class Power:
    """Knows what a power cut may destroy: files written or removed without waiting for the disk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._before: dict[Path, bytes | None] = {}
        self._lock = threading.Lock()
        for name, act in (
            ("write", self._kept), ("write_whole", self._at_risk),
            ("remove", self._kept), ("forget", self._at_risk),
        ):  # fmt: skip
            monkeypatch.setattr(durable, name, act(getattr(durable, name)))
        sync = durable.sync

        def synced(paths: Iterable[Path]) -> None:
            known = list(paths)
            sync(known)
            with self._lock:
                for path in known:
                    self._before.pop(path, None)

        monkeypatch.setattr(durable, "sync", synced)
        move = durable.move

        def moved(path: Path, new_path: Path) -> None:
            with self._lock:
                for one in (path, new_path):
                    self._before.setdefault(one, one.read_bytes() if one.is_file() else None)
            move(path, new_path)

        monkeypatch.setattr(durable, "move", moved)

    def _kept(self, act: Callable[..., None]) -> Callable[..., None]:
        def kept(path: Path, *more: Any) -> None:
            act(path, *more)
            with self._lock:
                self._before.pop(path, None)

        return kept

    def _at_risk(self, act: Callable[..., None]) -> Callable[..., None]:
        def at_risk(path: Path, *more: Any) -> None:
            with self._lock:
                self._before.setdefault(path, path.read_bytes() if path.is_file() else None)
            act(path, *more)

        return at_risk

    def cut(self, how: str) -> None:
        """Take it: files are as they were before, or they have their names and nothing in them."""
        for path, before in self._before.items():
            if before is not None:
                path.write_bytes(before)
            elif how == "empty" and path.exists():
                path.write_bytes(b"")
            else:
                path.unlink(missing_ok=True)
        self._before.clear()


@pytest.mark.parametrize("how", ["before", "empty"])
@pytest.mark.parametrize("confirm_s", [None, 60.0])
@pytest.mark.parametrize("at", range(_LAST))
def test_the_power_is_cut_in_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, confirm_s: float | None, how: str
) -> None:
    toy = router(tmp_path / "state")
    first = toy.engine()
    commit(first, CONFIRMED)
    first.close()
    request = CommitRequest(
        UNCONFIRMED, CommitOptions(author="alice", confirm_s=confirm_s, request_id="cut-short")
    )
    with monkeypatch.context() as patch:
        power = Power(patch)
        engine = toy.engine()
        dying(patch, at)
        with suppress(Killed):
            engine.commit(request)
        engine.close()
        power.cut(how)
    toy.plane.restart()
    toy.routing.restart()
    toy.clock.reboot()
    again = toy.engine()
    again.recover()
    made = again.revision == 2
    assert (again.damage(), again.seen.drift) == ([], ())
    assert toy.live() == compile_toy(again.running_config)
    assert again.document_of(again.revision) == again.config()["document"]
    assert len(again.revision_details(again.revision)["plan"]) == again.revisions(1)[0].steps_count
    assert (again.pending_confirm() is not None) is (made and confirm_s is not None)
    if made:
        assert (again.job("cut-short").state, again.job("cut-short").revision) == ("done", 2)
        assert again.commit(request).revision == again.revision == 2, "the same request is not made once more"
        if confirm_s is not None:
            again.confirm("bob")
    commit(again, document("192.0.2.128/25"))
    assert not (toy.directory / "journal.json").exists()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of the thread for each time that the disk was waited for."""
    found: list[str] = []
    fsync = os.fsync

    def counted(descriptor: int) -> None:
        found.append(threading.current_thread().name.partition("_")[0])
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", counted)
    return found


def _of_one_commit(tmp_path: Path, waits: list[str], **more: Any) -> list[str]:
    engine = router(tmp_path / "state").engine()
    commit(engine, CONFIRMED)
    waits.clear()
    commit(engine, UNCONFIRMED, **more)
    told = [name for name in waits if name != "after-commit"]
    engine.close()
    return told


def test_a_commit_itself_waits_for_its_record_alone(tmp_path: Path, waits: list[str]) -> None:
    """The journal, the document and the plan are written to the disk together while the router is
    observed.
    """
    told = _of_one_commit(tmp_path, waits)
    assert told.count("disk") == 2 + 3
    assert len(told) - told.count("disk") == 2


def test_a_timer_is_waited_for_once(tmp_path: Path, waits: list[str]) -> None:
    told = _of_one_commit(tmp_path, waits, confirm_s=60)
    assert len(told) - told.count("disk") == 2 + 2
