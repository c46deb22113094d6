"""Connections to the agent's socket, for threads: kept open, and each used by one call at a time.

The agent is asked several times for one page. Python's own HTTP client takes a third of the time that a
general one takes for such a question.
"""

from __future__ import annotations

import http.client
import select
import socket
from collections import deque
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

MOST_IDLE = 16
"""How many idle connections are kept."""


class Unreachable(Exception):
    """There was no whole answer; whether the agent got the question is unknown."""


class Late(Exception):
    """The agent has the question, and did not answer in time."""


@dataclass(frozen=True)
class Reply:
    """An answer of any status."""

    status: int
    body: bytes


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("agent", timeout=timeout_s)
        self._path, self._timeout_s = path, timeout_s

    def connect(self) -> None:
        """Connect to the path."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self._timeout_s)
        try:
            self.sock.connect(self._path)
        except OSError:
            self.close()
            raise


class Connections:
    """Asks the agent behind a Unix socket. Any thread may."""

    def __init__(self, path: str, timeout_s: float, headers: Mapping[str, str] | None = None) -> None:
        self._path, self._timeout_s, self._headers = path, timeout_s, dict(headers or {})
        self._idle: deque[_UnixConnection] = deque()

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = "application/json",
    ) -> Reply:
        """Ask one question. Raises Unreachable or Late."""
        connection = self._connection()
        try:
            response = self._send(connection, method, _target(path, query), body, content_type)
            reply = Reply(response.status, response.read())
        except TimeoutError as error:
            connection.close()
            raise Late(f"no answer within {self._timeout_s:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Unreachable(str(error) or type(error).__name__) from error
        except BaseException:
            connection.close()
            raise
        if response.will_close or len(self._idle) >= MOST_IDLE:
            connection.close()
        else:
            self._idle.append(connection)
        return reply

    def lines(self, path: str) -> Generator[bytes | Reply, None, None]:
        """The lines of an answer that goes on, or the whole of one that is an error. Raises as ``ask``."""
        connection = self._connection()
        try:
            response = self._send(connection, "GET", path, None, "")
            if response.status >= 400:
                yield Reply(response.status, response.read())
                return
            while line := response.readline():
                yield line
        except TimeoutError as error:
            raise Late(f"no answer within {self._timeout_s:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(str(error) or type(error).__name__) from error
        finally:
            connection.close()

    def _connection(self) -> _UnixConnection:
        """An idle connection that the agent has not closed, or a new one. Raises Unreachable."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread was first
                break
            if _is_quiet(connection.sock):
                return connection
            connection.close()
        connection = _UnixConnection(self._path, self._timeout_s)
        try:
            connection.connect()
        except OSError as error:
            raise Unreachable(str(error) or type(error).__name__) from error
        return connection

    def _send(
        self, connection: _UnixConnection, method: str, target: str, body: bytes | None, content_type: str
    ) -> http.client.HTTPResponse:
        headers = {**self._headers, **({} if body is None else {"Content-Type": content_type})}
        try:
            connection.request(method, target, body=body, headers=headers)
        except (BrokenPipeError, ConnectionResetError):
            # The agent may have refused the body before all of it was sent: its answer says why.
            return connection.getresponse()
        return connection.getresponse()


def _target(path: str, query: Mapping[str, str] | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _is_quiet(sock: socket.socket | None) -> bool:
    """Whether there is nothing to read, not even the close of the other side."""
    if sock is None:
        return False
    looking = select.poll()
    looking.register(sock, select.POLLIN)
    return not looking.poll(0)
