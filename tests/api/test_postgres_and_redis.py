"""The web half with PostgreSQL, Redis and a Celery worker, as the appliance runs it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import psycopg
import pytest

from tests.api.served import Served, served

DATABASE = "web_with_worker"
WORKER = ("celery", "-A", "webui", "worker", "--concurrency", "1", "--loglevel", "WARNING")


@pytest.fixture(scope="module")
def web(postgres_url: str, redis_url: str, broker_url: str) -> Iterator[Served]:
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {DATABASE}")
    url = postgres_url.rsplit("/", 1)[0] + f"/{DATABASE}"
    with served(DATABASE_URL=url, REDIS_URL=redis_url, CELERY_BROKER_URL=broker_url) as running:
        processes = [_started(running, *WORKER), _started(running, "webui", "run_schedule")]
        try:
            yield running
        finally:
            for process in processes:
                _end(process)
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")


def _started(running: Served, *module: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", *module]
    return subprocess.Popen(
        argv, env=running.environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def test_a_job_runs_in_the_worker_and_the_web_answers_at_once(web: Served) -> None:
    with web.http(web.token) as http:
        started = http.post("/api/v1/tools/ping", json={"destination": "10.10.0.2", "count": 1})
        assert started.status_code == 202 and started.json()["state"] == "queued"
        deadline = time.monotonic() + 60
        while (job := http.get(started.headers["Location"]).json())["state"] in ("queued", "running"):
            assert time.monotonic() < deadline, job
            time.sleep(0.2)
        # There is no such namespace: the tool fails, in the worker.
        assert job["started_at"] and job["finished_at"]


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
