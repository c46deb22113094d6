"""PostgreSQL and Redis are stopped under the web half, not killed: nobody waits for ever."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
import redis

from appliance.state.commit_options import CommitOptions
from tests.api.served import Served, served
from tests.api.test_database_outage import _csrf, _is_refusal, person
from tests.live_lab import wait_until
from tests.services import Addresses, cluster, make_cluster, redis_server

LONGEST_S = 12.0
"""Two seconds in a queue, six for the database, two to connect, and a margin for a busy machine."""
__all__ = ["person"]


class Services:
    """A PostgreSQL and a Redis of this module's own."""

    def __init__(self, at: Addresses) -> None:
        self.at, self._redis = at, ExitStack()
        self.start_redis()

    def start_redis(self) -> None:
        self._redis.enter_context(redis_server(self.at))

    def end_redis(self) -> None:
        self._redis.close()

    @contextmanager
    def without_redis(self) -> Iterator[None]:
        """Nobody listens at its address."""
        self.end_redis()
        try:
            yield
        finally:
            self.start_redis()

    @contextmanager
    def stopped(self, name: str) -> Iterator[None]:
        """Every process of the server is stopped, as on a host that hangs."""
        pids = self._pids(name)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)

    def _pids(self, name: str) -> list[int]:
        """The server's own, and those of the processes it started."""
        if name == "redis":
            server = int(redis.Redis.from_url(self.at.redis_url).info("server")["process_id"])
        else:
            server = int((self.at.directory / "postgres/data/postmaster.pid").read_text().split()[0])
        return [server, *map(int, Path(f"/proc/{server}/task/{server}/children").read_text().split())]


@pytest.fixture(scope="module")
def services() -> Iterator[Services]:
    with tempfile.TemporaryDirectory(prefix="mr-stop-", ignore_cleanup_errors=True) as directory:
        Path(directory).chmod(0o755)
        at = Addresses(Path(directory))
        make_cluster(at)
        with cluster(at, end=signal.SIGQUIT):
            made = Services(at)
            try:
                yield made
            finally:
                made.end_redis()


@pytest.fixture(scope="module")
def web(services: Services) -> Iterator[Served]:
    at = services.at
    with served(
        DATABASE_URL=at.postgres_url, REDIS_URL=at.redis_url, CELERY_BROKER_URL=at.broker_url
    ) as running:
        yield running


def _timed(ask: Callable[[], httpx.Response]) -> tuple[httpx.Response, float]:
    begun = time.monotonic()
    answer = ask()
    return answer, time.monotonic() - begun


def test_a_stopped_database_is_a_quick_503_and_recovers_by_itself(
    web: Served, services: Services, person: httpx.Client
) -> None:
    with web.http(web.token) as program, web.http() as stranger:
        token = _csrf(person.get("/tokens").text)
        stranger_token = _csrf(stranger.get("/login").text)
        asks: list[Callable[[], httpx.Response]] = [
            lambda: program.get("/api/v1/me"),
            lambda: program.get("/api/v1/status"),
            lambda: program.get("/api/v1/config"),
            lambda: program.get("/api/v1/revisions"),
            lambda: program.put("/api/v1/config/system/hostname", json="outage"),
            lambda: program.put("/api/v1/config", content=b" " * 100_000),
            lambda: program.get("/api/v1/counters/stream?fields=rx_bytes&interfaces=lan0"),
            lambda: person.get("/"),
            lambda: person.get("/status"),
            lambda: person.get("/interfaces"),
            lambda: person.post("/changes/confirm", data={"csrfmiddlewaretoken": token}),
            lambda: stranger.post(
                "/login",
                data={
                    "username": web.username,
                    "password": web.password,
                    "csrfmiddlewaretoken": stranger_token,
                },
                headers={"Referer": f"{web.base_url}/login"},
            ),
        ]
        for client in (program, person, stranger):
            client.timeout = httpx.Timeout(60)
        with services.stopped("postgres"):
            with ThreadPoolExecutor(len(asks)) as threads:
                for _ in range(2):
                    for answer, took_s in threads.map(_timed, asks):
                        about = (str(answer.request.url), answer.status_code, took_s, answer.text[:300])
                        assert answer.status_code == 503 and int(answer.headers["Retry-After"]) > 0, about
                        assert took_s < LONGEST_S, about
            # Later requests find no thread held: most get their answer at once.
            took = sorted(_timed(lambda: program.get("/api/v1/me"))[1] for _ in range(8))
            assert took[len(took) // 2] < 3, took
            # The router itself needs none of it: questions and commits of the command line go on.
            router = web.router.client
            now = router.config()
            now["document"]["system"]["hostname"] = "by-socket"
            assert (
                router.commit(
                    now["document"], CommitOptions(author="console"), base_revision=now["revision"]
                )["state"]
                == "done"
            )
        begun = time.monotonic()
        wait_until(lambda: program.get("/api/v1/me").status_code == 200, timeout_s=15, what="an answer again")
        print(f"answered {time.monotonic() - begun:.1f} s after it went on")
        assert program.get("/api/v1/config/system/hostname").json() == "by-socket"
        wait_until(lambda: person.get("/").status_code == 200, timeout_s=15, what="the first page again")


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_pages_do_without_redis_and_jobs_are_refused(
    web: Served, services: Services, person: httpx.Client, how: str
) -> None:
    token = _csrf(person.get("/tools").text)
    with web.http(web.token) as program:
        with services.stopped("redis") if how == "stopped" else services.without_redis():
            for ask in (
                lambda: program.get("/api/v1/status"),
                lambda: program.get("/api/v1/storage"),
                lambda: person.get("/"),
                lambda: person.get("/status"),
                lambda: program.put("/api/v1/config/system/hostname", json=f"without-redis-{how}"),
            ):
                answer, took_s = _timed(ask)
                assert answer.status_code == 200, (answer.request.url, answer.text[:500])
                assert took_s < 8, (answer.request.url, took_s)
            answer, took_s = _timed(
                lambda: program.post("/api/v1/tools/ping", json={"destination": "10.10.0.2", "count": 1})
            )
            assert _is_refusal(answer) and took_s < 10, (answer.status_code, took_s, answer.text)
            newest = program.get("/api/v1/jobs").json()["items"][0]
            assert newest["state"] == "failed" and "broker" in newest["error"]
            answer, took_s = _timed(
                lambda: person.post(
                    "/tools/ping", data={"destination": "10.10.0.2", "csrfmiddlewaretoken": token}
                )
            )
            assert _is_refusal(answer) and took_s < 10, (answer.status_code, took_s, answer.text[:500])
        accepted = program.post("/api/v1/tools/ping", json={"destination": "10.10.0.2", "count": 1})
        assert accepted.status_code == 202, accepted.text


def _web_alarms(web: Served) -> dict[str, str]:
    """What the web half reports of its own parts: each object with its finding, and those it cannot check."""
    with web.http(web.token) as http:
        answer = http.get("/api/v1/alarms").json()
        found = {
            one["object"]: one["evidence"]["seen"]
            for one in answer["items"]
            if one["kind"] == "web_part_down"
        }
        unchecked = {name: "unchecked" for name in answer["unchecked"] if name in ("Redis", "worker")}
    return {**found, **unchecked}


def test_a_worker_and_a_redis_that_are_away_are_alarms_and_the_pages_say_so(
    web: Served, services: Services, person: httpx.Client
) -> None:
    worker = web.children()["web-worker"]
    os.kill(worker, signal.SIGSTOP)
    try:
        wait_until(
            lambda: _web_alarms(web) == {"worker": "no worker answered within 2 seconds"},
            timeout_s=90,
            what="the worker holds still",
        )
        with web.http(web.token) as http:
            assert http.get("/api/v1/status").json()["alarms"]["counts"]["minor"] == 1
            assert 'millrace_alarms{severity="minor"} 1.0' in http.get("/metrics").text
        assert "No worker takes jobs." in person.get("/alarms").text
        assert "1 minor" in person.get("/status").text
    finally:
        os.kill(worker, signal.SIGCONT)
    wait_until(lambda: _web_alarms(web) == {}, timeout_s=90, what="the worker takes jobs")
    with services.stopped("redis"):
        wait_until(
            lambda: (
                set(_web_alarms(web).items()) >= {("worker", "unchecked")} and "Redis" in _web_alarms(web)
            ),
            timeout_s=90,
            what="Redis holds still, and of the worker nothing is known",
        )
        # The router is unchanged and reachable.
        with web.http(web.token) as http:
            assert http.put("/api/v1/config/system/hostname", json="without-redis").status_code == 200
    wait_until(lambda: _web_alarms(web) == {}, timeout_s=90, what="Redis answers again")
