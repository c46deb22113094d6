"""Django's interface of a database backend."""

from __future__ import annotations

import time
from typing import Any, TypeVar

import psycopg
from django.db.backends.postgresql import base
from psycopg.abc import PQGen
from psycopg.errors import ConnectionTimeout

from webui.postgresql.patience import HEALTH_CHECK_S, Quiet, left_s, patience, spend

Value = TypeVar("Value")
_quiet = Quiet()


class PatientConnection(psycopg.Connection[Any]):
    """Waits for an answer as long as the thread's patience lasts, and is closed after that.

    The server's own ``statement_timeout`` does not end anything while the server is stopped.
    """

    def wait(self, gen: PQGen[Value], interval: float = 0.1, timeout: float | None = None) -> Value:
        """As psycopg does; raises OperationalError when the patience is over."""
        allowed = left_s() if timeout is None else timeout
        begun = time.monotonic()
        try:
            return super().wait(gen, interval, allowed)
        except psycopg.OperationalError as error:
            if timeout is not None or allowed is None or time.monotonic() - begun < allowed:
                raise
            # A later answer would be mistaken for that to another statement.
            self.pgconn.finish()
            raise psycopg.OperationalError("the server did not answer in time") from error
        finally:
            spend(time.monotonic() - begun)


class DatabaseWrapper(base.DatabaseWrapper):
    """PostgreSQL with connections that do not wait for ever."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> PatientConnection:
        """Raises OperationalError; at once if another connection just got no answer."""
        if _quiet:
            raise psycopg.OperationalError("the server did not answer a moment ago")
        self.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        try:
            return PatientConnection.connect(**conn_params)
        except ConnectionTimeout:
            _quiet.begin()
            raise

    def is_usable(self) -> bool:
        """Whether the connection still answers, within a short time."""
        left = left_s()
        with patience(HEALTH_CHECK_S if left is None else min(left, HEALTH_CHECK_S)):
            return bool(super().is_usable())
