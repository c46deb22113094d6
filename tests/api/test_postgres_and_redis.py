"""The web half with PostgreSQL, Redis, a worker and a scheduler, as the appliance runs it."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.api.served import Served, served
from tests.live_lab import wait_until

DATABASE = "web_with_worker"
NAMES = {"web-server", "web-worker", "web-scheduler"}


@pytest.fixture(scope="module")
def web(postgres_url: str, redis_url: str, broker_url: str) -> Iterator[Served]:
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {DATABASE}")
    url = postgres_url.rsplit("/", 1)[0] + f"/{DATABASE}"
    with served(DATABASE_URL=url, REDIS_URL=redis_url, CELERY_BROKER_URL=broker_url) as running:
        yield running
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


def _kib(pid: int, name: str) -> int:
    """A line of the process's memory, all mappings together."""
    found = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])


def _job_is_over(web: Served) -> bool:
    with web.http(web.token) as http:
        started = http.post("/api/v1/tools/ping", json={"destination": "10.10.0.2", "count": 1})
        assert started.status_code == 202 and started.json()["state"] == "queued"
        deadline = time.monotonic() + 60
        while (job := http.get(started.headers["Location"]).json())["state"] in ("queued", "running"):
            assert time.monotonic() < deadline, job
            time.sleep(0.2)
        # There is no such namespace: the tool fails, in the worker.
        return bool(job["started_at"] and job["finished_at"])


def test_a_job_runs_in_the_worker_and_the_web_answers_at_once(web: Served) -> None:
    assert _job_is_over(web)


def test_what_recurs_has_the_counters_rolled_up(web: Served) -> None:
    with web.http(web.token) as http:
        deadline = time.monotonic() + 90
        while not http.get("/api/v1/counters/history?range=1h").json()["interfaces"]:
            assert time.monotonic() < deadline
            time.sleep(1)


def test_a_commit_needs_no_worker(web: Served) -> None:
    with web.http(web.token) as http:
        answer = http.put("/api/v1/config/system/hostname", json="other")
        assert answer.json()["state"] == "done"
        assert http.get("/api/v1/audit").json()["items"][0]["action"] == "config.commit"


def test_its_processes_share_what_one_of_them_imported(web: Served) -> None:
    children = web.children()
    assert set(children) == NAMES
    for pid in children.values():
        assert _kib(pid, "Shared_Dirty") > _kib(pid, "Private_Dirty") / 4, "memory that nobody wrote to since"
    opened = [str(path.readlink()) for path in Path(f"/proc/{web.pid}/fd").iterdir()]
    # The test's own, on which the server listens.
    assert len([name for name in opened if name.startswith("socket:")]) == 1
    assert len(list(Path(f"/proc/{web.pid}/task").iterdir())) == 1


def test_pages_come_before_the_worker_and_the_scheduler_for_cpu_and_for_memory(web: Served) -> None:
    children = web.children()
    nice = {name: os.getpriority(os.PRIO_PROCESS, pid) for name, pid in children.items()}
    score = {name: int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for name, pid in children.items()}
    parent = int(Path(f"/proc/{web.pid}/oom_score_adj").read_text())
    for name in ("web-worker", "web-scheduler"):
        assert nice[name] > nice["web-server"]
        assert score[name] > score["web-server"] > parent


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_process_that_is_killed_is_forked_anew_and_does_its_work(web: Served, name: str) -> None:
    before = web.children()
    os.kill(before[name], signal.SIGKILL)
    wait_until(
        # One look: the process that was killed has its name until it is reaped.
        lambda: (now := web.children()).keys() == NAMES and now[name] != before[name],
        timeout_s=60,
        what=f"another {name}",
    )
    after = web.children()
    assert {other: after[other] for other in NAMES - {name}} == {
        other: before[other] for other in NAMES - {name}
    }
    with web.http(web.token) as http:
        # The listening socket is the test's own: what comes meanwhile waits in it.
        assert http.get("/api/v1/me").status_code == 200
    assert _job_is_over(web)
