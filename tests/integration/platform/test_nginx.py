"""What one client can take of real nginx with the image's settings, before a server that answers late."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.dataplane.namespace import Namespace
from appliance.programs import run
from tests.front_door import H2, HEADERS, RST_STREAM, connect, nginx
from tests.requirements import needs_root_netns

pytestmark = needs_root_netns
NAME = f"mrn{os.getpid()}"
HOST, V4_HOST = "fd77::1", "10.77.8.1"
ONE, SAME_64, OTHER_64 = "fd77:0:0:1::1", "fd77:0:0:1:ffff::a", "fd77:0:0:2::1"
STREAMS, REQUESTS = 32, 96
NO_ANSWER_S = 20.0


class Upstream:
    """In the web process's place: takes requests and answers none."""

    def __init__(self, path: Path) -> None:
        self.heads: list[bytes] = []
        self._open: list[socket.socket] = []
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen(512)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self._open.append(connection)
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(65536)
            self.heads.append(head)

    def wait_for(self, count: int) -> None:
        """Until so many requests are here."""
        _until(lambda: len(self.heads) >= count, lambda: f"{len(self.heads)} of {count} requests")

    def close(self) -> None:
        """End all."""
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for connection in self._open:
            connection.close()


def _until(condition: Callable[[], bool], what: Callable[[], str]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.02)


class Door:
    """nginx and what is behind it."""

    def __init__(self, directory: Path, space: Namespace, upstream: Upstream) -> None:
        self.directory, self.space, self.upstream = directory, space, upstream

    def h2(self, source: str) -> H2:
        """A new HTTP/2 connection."""
        return H2(self.space.run(connect, self.directory, source, HOST, "h2"))

    def status(self, source: str, host: str = HOST) -> int | None:
        """Of a POST over HTTP/1.1 from there; None when it is passed on."""
        before = len(self.upstream.heads)
        connection = self.space.run(connect, self.directory, source, host, "http/1.1")
        connection.sendall(b"POST / HTTP/1.1\r\nHost: router\r\nContent-Length: 9\r\n\r\n")
        connection.settimeout(0.1)
        deadline = time.monotonic() + NO_ANSWER_S
        while len(self.upstream.heads) == before:
            assert time.monotonic() < deadline, "neither answered nor passed on"
            try:
                return int(connection.recv(65536).split()[1])
            except TimeoutError:
                continue
        self.kept = connection
        return None


@pytest.fixture
def door() -> Iterator[Door]:
    run(["ip", "netns", "add", NAME])
    try:
        run(["ip", "-n", NAME, "link", "set", "lo", "up"])
        addresses = (HOST, ONE, SAME_64, OTHER_64)
        for address in (*(f"{one}/128" for one in addresses), "10.77.8.1/24", "10.77.8.2/24"):
            run(["ip", "-n", NAME, "address", "add", address, "dev", "lo"])
        with tempfile.TemporaryDirectory(prefix="mr-nginx-") as made:
            directory = Path(made)
            upstream = Upstream(directory / "web.sock")
            space = Namespace(NAME)
            try:
                with nginx(directory, directory / "web.sock", NAME):
                    yield Door(directory, space, upstream)
            finally:
                space.close()
                upstream.close()
    finally:
        subprocess.run(["ip", "netns", "delete", NAME], check=False)


def test_one_client_has_its_share_of_requests_however_many_addresses_it_has(door: Door) -> None:
    sources = (ONE, SAME_64, "fd77:0:0:1::1")
    connections = [door.h2(source) for source in sources]
    for connection in connections:
        assert connection.most_streams() == STREAMS
        for _ in range(STREAMS):
            connection.post()
    door.upstream.wait_for(REQUESTS)
    # One stream more than it said that it takes.
    extra = connections[0].post()
    while (told := connections[0].read())[:2] != (RST_STREAM, extra):
        assert told[0] != HEADERS, "no other stream is answered"
    for source in (ONE, SAME_64):
        assert door.status(source) == 429
    assert len(door.upstream.heads) == REQUESTS
    assert door.status(OTHER_64) is None, "another /64 has its own share"
    assert door.status("10.77.8.2", V4_HOST) is None
    assert len(door.upstream.heads) == REQUESTS + 2
    assert b"\r\nX-Forwarded-For: 10.77.8.2\r\n" in door.upstream.heads[-1]
    for connection in connections:
        connection.close()


def test_a_body_is_passed_on_while_it_comes_and_tells_how_long_it_is_or_that_it_has_parts(
    door: Door,
) -> None:
    """What the web process bounds are bodies under way: it has to see their heads at once."""
    connection = door.h2(ONE)
    connection.body(connection.post("/login"), b"user")
    door.upstream.wait_for(1)
    assert b"transfer-encoding: chunked" in door.upstream.heads[0].lower()
    assert door.status(SAME_64) is None
    assert b"\r\nContent-Length: 9\r\n" in door.upstream.heads[1]
    connection.close()
