"""The services that the web half needs besides its database, and how to check each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from kombu.exceptions import OperationalError
from redis import Redis
from redis.exceptions import RedisError

from webui.processes import board as shared
from webui.processes.board import Board
from webui.processes.parent import how

_ANSWER_S = 2.0


class DoesNotWork(Exception):
    """The part does not work; the message says what was observed."""


class NotChecked(Exception):
    """The state of the part is unknown, because something else on the way to it is down."""


@dataclass(frozen=True)
class Part:
    """``check`` returns within some seconds if the part works; otherwise it raises one of these errors."""

    name: str
    check: Callable[[], None]
    summary: str
    advice: str


def parts() -> tuple[Part, ...]:
    """The parts that this web half is configured with."""
    found = []
    if url := settings.CACHES["default"].get("LOCATION"):
        found.append(Part("Redis", lambda: _redis(url), "Redis does not answer.", _NO_REDIS))
    if settings.CELERY_BROKER_URL:
        found.append(Part("worker", _worker, "No worker takes jobs.", _NO_WORKER))
        if (forked := shared.board) is not None:
            found.append(Part("scheduler", lambda: _scheduler(forked), "The scheduler fails.", _NO_SCHEDULER))
    return tuple(found)


_NO_REDIS = (
    "Forwarding, routing and commits go on. Ping and traceroute cannot be started, and pages are slower. "
    "Look at `systemctl status redis-server`."
)
_NO_WORKER = (
    "Forwarding, routing and commits go on. Ping and traceroute wait until a worker runs. "
    "See the worker's lines on the page Logs."
)
_NO_SCHEDULER = (
    "Forwarding, routing and commits go on. The history of counters has gaps, and old records stay. "
    "See the scheduler's lines on the page Logs."
)


def _redis(url: str) -> None:
    client = Redis.from_url(url, socket_timeout=_ANSWER_S, socket_connect_timeout=_ANSWER_S)
    try:
        client.ping()
    except RedisError as error:
        raise DoesNotWork(str(error)) from error
    finally:
        client.close()


def _scheduler(forked: Board) -> None:
    standing = forked.read()["scheduler"]
    if standing.in_a_row > 1:
        last = how(standing.exit_code)
        raise DoesNotWork(f"it ended {standing.in_a_row} times soon after its start, lastly {last}")


def _worker() -> None:
    from webui.celery import app

    waits = {"socket_timeout": _ANSWER_S * 2, "socket_connect_timeout": _ANSWER_S, "max_retries": 0}
    try:
        with app.connection_for_write(transport_options=waits) as broker:
            answers = app.control.ping(timeout=_ANSWER_S, connection=broker, limit=1)
    except (OperationalError, RedisError, OSError) as error:
        raise NotChecked(f"the broker of jobs does not answer: {error}") from error
    if not answers:
        raise DoesNotWork(f"no worker answered within {_ANSWER_S:.0f} seconds")
