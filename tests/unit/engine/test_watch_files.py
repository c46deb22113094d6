"""Which files of a watch wait for the disk: every commit begins a watch, and would pay for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
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


def test_a_watch_written_ahead_takes_the_place_of_the_one_before_only_when_put(
    tmp_path: Path, synced: list[int]
) -> None:
    clock = ToyClock()
    watches, before, ahead = Watches(tmp_path, clock, Reserve(tmp_path)), _watch(rolls_back=False), []
    watches.take(watches.prepare(before))
    assert _written(lambda: ahead.append(watches.write_ahead(replace(before, revision=3))), synced) == 0
    assert (watches._read(2), watches._read(3)) == (watches.current, None)
    clock.wait(0.1)
    assert watches.put(ahead[0]) == ahead[0] == watches._read(3)


def test_a_watch_written_long_before_its_steps_were_made_is_written_again(tmp_path: Path) -> None:
    clock = ToyClock()
    watches = Watches(tmp_path, clock, Reserve(tmp_path))
    ahead = watches.write_ahead(_watch(rolls_back=False))
    clock.wait(60)
    assert watches.put(ahead) is None
    assert watches.prepare(_watch(rolls_back=False)).ends_boot_s == ahead.ends_boot_s + 60


def test_a_watch_written_ahead_of_a_revision_never_made_is_forgotten(tmp_path: Path) -> None:
    Watches(tmp_path, ToyClock(), Reserve(tmp_path)).write_ahead(_watch(rolls_back=False))
    Watches(tmp_path, ToyClock(), Reserve(tmp_path)).load(1)
    assert list(tmp_path.glob("watch*.json")) == []
