"""The memory of everything but VPP and FRR, proportionally: a page that n processes share counts 1/n for
each.

Measured after some minutes without any request, and after a user looked at pages. Goal: agent, web half,
PostgreSQL, Redis and feeder <= 350 MB. The lab has no nginx, and its Python is not compiled beforehand as the
appliance's is: its modules hold some MB more.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.supervision import Supervisor
from tests.bench.by_rest import signed_in
from tests.live_lab import LiveLab, json_of, live_lab
from tests.requirements import require_root_netns, vpp_installed

pytestmark = [pytest.mark.bench, pytest.mark.root]

IDLE_S = float(os.environ.get("MILLRACE_IDLE_S", "300"))
PAGES = 20
PROGRAMS = ("agent", "web", "postgres", "redis", "feeder")
_PAGE_LINK = re.compile(r'href="(/[a-z][^"#?]*)"')


@pytest.fixture(scope="module")
def live() -> Iterator[LiveLab]:
    """A lab of this benchmark's own."""
    require_root_netns()
    with live_lab("bm", "vpp" if vpp_installed() else "linux", "postgres") as lab:
        yield lab


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(member for child in children for member in _family(int(child)))]


def _pss_mb(pid: int) -> float:
    found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * 1024 / 1e6


def _held(live: LiveLab) -> dict[str, float]:
    """MB by program; those of the web half also by process."""
    supervisor = Supervisor(live.directory)
    found: dict[str, float] = {}
    for program in PROGRAMS:
        if program not in supervisor.states():
            continue
        family = _family(supervisor.pid(program))
        found[program] = sum(_pss_mb(pid) for pid in family)
        if program == "web":
            names = ["parent", *(Path(f"/proc/{pid}/comm").read_text().strip() for pid in family[1:])]
            found |= {f"  {name}": _pss_mb(pid) for name, pid in zip(names, family, strict=True)}
    return {**found, "all": sum(found.get(program, 0.0) for program in PROGRAMS)}


def _look_around(live: LiveLab) -> int:
    """Opens the pages of the sidebar one after the other, as a signed-in user, and pings; returns how
    many pages.
    """
    with signed_in(live) as http:
        links = dict.fromkeys(_PAGE_LINK.findall(http.get("/").text))
        pages = [link for link in links if not link.startswith(("/static", "/api"))][:PAGES]
        assert all(http.get(page).status_code == 200 for page in pages)
    job = json_of(live.api.post("/tools/ping", json={"destination": "10.10.0.2", "count": 3}), status=202)
    while job["state"] in ("queued", "running"):
        time.sleep(0.5)
        job = json_of(live.api.get(f"/jobs/{job['id']}"))
    assert job["state"] == "done", job
    return len(pages)


def test_what_is_held_idle_and_after_pages(live: LiveLab, capsys: pytest.CaptureFixture[str]) -> None:
    time.sleep(IDLE_S)
    idle = _held(live)
    pages = _look_around(live)
    used = _held(live)
    with capsys.disabled():
        print(f"\n{live.dataplane}, {platform.machine()}, Python {platform.python_version()}; MB of PSS")
        print(f"{'':<16} {IDLE_S:>5.0f} s idle   after {pages} pages and a ping")
        for name in idle:
            print(f"{name:<16} {idle[name]:12.1f}   {used.get(name, 0.0):10.1f}")
    assert pages == PAGES
