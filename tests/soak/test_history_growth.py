"""Many small commits of a large document: the disk they take is bounded, and none is slower for those before.

``MILLRACE_SOAK_COMMITS`` (20000) commits of one line at ``MILLRACE_SOAK_ROUTES`` (5000) routes, random by
``MILLRACE_SOAK_SEED``.
"""

from __future__ import annotations

import os
import random
import statistics
import time
from pathlib import Path
from typing import Any

from tests.unit.engine.toys import commit, document, router

COMMITS = int(os.environ.get("MILLRACE_SOAK_COMMITS", "20000"))
ROUTES = int(os.environ.get("MILLRACE_SOAK_ROUTES", "5000"))
SEED = int(os.environ.get("MILLRACE_SOAK_SEED", "1"))
LARGEST_BYTES = 160 << 20
"""The quotas of revisions and results, and what they may be over before the next look."""
SLOWER = 1.2


def disk_bytes(folder: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


def one_line(wanted: dict[str, Any], chance: random.Random) -> None:
    """Another next hop for one route."""
    static: dict[str, Any] = wanted["routing"]["static"]
    name = chance.choice(list(static))
    static[name] = {"next_hops": [{"address": f"192.0.2.{chance.randint(2, 250)}"}]}


def test_history_stays_within_its_quota(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    toy = router(tmp_path / "state")
    engine = toy.engine()
    wanted = document(*(f"10.{number >> 8 & 255}.{number & 255}.0/24" for number in range(ROUTES)))
    commit(engine, wanted)
    took_s, largest = [], 0
    for number in range(COMMITS):
        one_line(wanted, chance)
        begun_s = time.monotonic()
        commit(engine, wanted)
        took_s.append(time.monotonic() - begun_s)
        # One a second: what is kept by the hour is, too.
        toy.clock.wait(1)
        if number % 100 == 0:
            largest = max(largest, disk_bytes(toy.directory))
    share = max(COMMITS // 10, 20)
    first, last = (statistics.quantiles(part, n=20)[-1] for part in (took_s[:share], took_s[-share:]))
    used = disk_bytes(toy.directory)
    largest = max(largest, used)
    print(
        f"seed {SEED}: {COMMITS} commits of one line at {ROUTES} routes; {used / COMMITS:.0f} bytes of disk "
        f"a commit, largest {largest >> 10} KiB; at one a second without forgetting "
        f"{used / COMMITS * 86400 / 2**20:.0f} MiB a day; p95 first {first * 1000:.0f} ms, last "
        f"{last * 1000:.0f} ms; {engine.storage()}"
    )
    assert largest <= LARGEST_BYTES
    assert last <= first * SLOWER
    engine.close()
    again = toy.engine()
    assert (again.config(), again.damage()) == (engine.config(), [])
