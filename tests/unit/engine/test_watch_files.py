"""Which files of a watch wait for the disk: every commit begins a watch, and would pay for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.engine.reserve import Reserve
from appliance.engine.watching import Watch, Watches
from tests.unit.engine.toys import ToyClock


@pytest.fixture
def watches(tmp_path: Path) -> Watches:
    return Watches(tmp_path, ToyClock(), Reserve(tmp_path))


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A descriptor for each time that the disk was waited for."""
    found: list[int] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        found.append(descriptor)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return found


def _watch(*, rolls_back: bool) -> Watch:
    return Watch(2, 1, 1, 30.0, rolls_back, "2026-01-01T00:00:00Z")


def _written(act: Callable[[], object], synced: list[int]) -> int:
    synced.clear()
    act()
    return len(synced)


def test_only_a_watch_that_rolls_back_waits_for_the_disk(watches: Watches, synced: list[int]) -> None:
    for rolls_back in (False, True):
        watch = _watch(rolls_back=rolls_back)
        assert bool(_written(lambda watch=watch: watches._write(watch), synced)) == rolls_back  # type: ignore[misc]
        assert watches._read(2) == watches._in_this_boot(watch)


def test_only_what_was_seen_at_last_waits_for_the_disk(watches: Watches, synced: list[int]) -> None:
    assert _written(lambda: watches.keep(2, {"state": "watching"}, final=False), synced) == 0
    assert watches.report(2) == {"state": "watching"}
    assert _written(lambda: watches.keep(2, {"state": "as_before"}), synced) > 0
    assert watches.report(2) == {"state": "as_before"}
