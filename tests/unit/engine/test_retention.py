"""Which revisions are removed, and that their files are removed too."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from appliance.config.dump import digest as digest_of
from appliance.engine import deltas
from appliance.engine.records import Revision, timestamp
from appliance.engine.retention import Entry, Retention
from appliance.engine.store import RevisionStore
from appliance.errors import NotFound


def entries(count: int, every_s: float, used_bytes: int = 10) -> list[Entry]:
    return [Entry(number, number * every_s, used_bytes) for number in range(1, count + 1)]


def test_the_newest_stay_and_older_ones_are_thinned_to_hours() -> None:
    kept = Retention(newest=100, revisions=1000, used_bytes=1 << 30)
    found = entries(10_000, 60)
    gone = set(kept.forgotten(found, 100_000, {10_000}))
    left = [entry for entry in found if entry.number not in gone]
    assert [entry.number for entry in left[-100:]] == list(range(9901, 10_001))
    hours = [int(entry.time_s // 3600) for entry in left[:-100]]
    assert hours == sorted(set(hours))
    assert len(hours) == len({int(entry.time_s // 3600) for entry in found[:-100]})


@pytest.mark.parametrize("limit", [Retention(5, 8, 1 << 30), Retention(500, 500, 80)])
def test_the_oldest_go_first_and_what_is_needed_stays(limit: Retention) -> None:
    gone = limit.forgotten(entries(100, 3600), 1000, {2, 100})
    left = sorted(set(range(1, 101)) - set(gone))
    assert left == [2, *range(94, 101)]


def test_what_is_needed_stays_though_it_is_too_much() -> None:
    gone = Retention(5, 5, 1).forgotten(entries(10, 1), 100, {3, 10})
    assert sorted(set(range(1, 11)) - set(gone)) == [3, 10]


def document(routes: dict[str, int]) -> dict[str, object]:
    return {
        "schema_version": 1,
        "routing": {
            "static": {
                name: {"next_hops": [{"address": "192.0.2.2"}], "distance": distance}
                for name, distance in routes.items()
            }
        },
    }


def revision(number: int, digest: str, details: str) -> Revision:
    return Revision(
        number, digest, "alice", "", timestamp(1e9 + number), "none", 1, "done", number - 1, "", None, details
    )  # fmt: skip


def test_a_store_is_bounded_and_every_revision_it_lists_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over many deltas, whole texts and prunings; found again after a start."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    chance = random.Random(5)
    kept = RevisionStore(tmp_path, Retention(newest=80, revisions=100))
    routes = {f"10.{number >> 8}.{number & 255}.0/24": 1 for number in range(1500)}
    written: dict[int, dict[str, object]] = {}
    for number in range(1, 321):
        routes[chance.choice(list(routes))] = chance.randint(2, 250)
        written[number] = document(routes)
        name = digest_of(written[number])
        kept.append(revision(number, name, kept.put({"plan": [number], "diff": []})), written[number])
        kept.prune({200})
    names = [path.name for path in (tmp_path / "objects").iterdir()]
    assert sum(name.endswith(".d") for name in names) > 70
    for found in (kept, RevisionStore(tmp_path, kept.retention)):
        numbers = [one.revision for one in found.newest(1000)]
        assert numbers[:80] == list(range(320, 240, -1))
        assert len(numbers) <= 100 + 50
        assert 200 in numbers
        for number in numbers:
            assert found.document(number) == written[number]
            assert found.details(number) == {"plan": [number], "diff": []}
        with pytest.raises(NotFound, match="forgotten to make room"):
            found.get(2 if 2 not in numbers else 3)
        assert found.usage["used_bytes"] < 4 << 20
        assert found.damage == {}
    assert len(names) <= 2 * 150 + 12


@pytest.mark.parametrize("seed", range(20))
def test_a_delta_makes_the_text_again(seed: int) -> None:
    chance = random.Random(seed)
    base = [chance.choice(["{a},", '"10.0.0.0/24":{"x":1},', "[]", "tail"]) for _ in range(60)]
    changed = list(base)
    for _ in range(chance.randint(0, 8)):
        place = chance.randrange(len(changed))
        changed[place : place + chance.randint(0, 3)] = ["new},"] * chance.randint(0, 2)
    text = "".join(changed)
    cut = deltas.pieces("".join(base))
    made = deltas.difference(cut, deltas.places(cut), text)
    assert deltas.restored(cut, made) == text


def test_a_delta_beyond_its_base_is_refused() -> None:
    wrongs: tuple[list[Any], ...] = ([[0, 2]], [[-1, 1]], [[5, 1]], [{}], [7])
    for wrong in wrongs:
        with pytest.raises((ValueError, TypeError)):
            deltas.restored(["one"], wrong)
