"""A BGP neighbor played by a test, in a network namespace: it sends exactly what the test wants."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from pyroute2 import netns

from tests.bmp_stream import opening
from tests.soak import bgp_bytes as bgp

_AGAIN_S = 0.2


class BgpPeer:
    """A neighbor at ``address`` in a namespace, towards the router at ``router``. Enter it for a session."""

    def __init__(
        self,
        namespace: str,
        address: str,
        asn: int,
        *,
        router: str,
        families: Iterable[int] = (4, 6),
        four_octets: bool = True,
    ) -> None:
        self._namespace, self.address, self.asn, self._router = namespace, address, asn, router
        bgp_id = "10.0.0.6" if ":" in address else address
        self._opening = opening(asn, families, four_octets=four_octets, bgp_id=bgp_id)
        self._connection: socket.socket | None = None

    def __enter__(self) -> Self:
        self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def connect(self, limit_s: float = 30) -> None:
        """A session that both sides consider established. Raises TimeoutError."""
        until = time.monotonic() + limit_s
        while self._connection is None:
            if time.monotonic() > until:
                raise TimeoutError(f"no session of {self.address} with {self._router} within {limit_s:g} s")
            thread = threading.Thread(target=self._open)
            thread.start()
            thread.join()
            if self._connection is None:
                time.sleep(_AGAIN_S)

    def close(self) -> None:
        """End the session."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def send(self, *updates: bytes) -> None:
        """UPDATE messages."""
        assert self._connection is not None
        self._connection.sendall(b"".join(updates))

    def _open(self) -> None:
        netns.setns(self._namespace)  # of this thread alone
        connection = socket.socket(socket.AF_INET6 if ":" in self.address else socket.AF_INET)
        connection.settimeout(5)
        try:
            connection.bind((self.address, 0))
            connection.connect((self._router, 179))
            connection.sendall(self._opening)
            if {_receive(connection), _receive(connection)} != {bgp.OPEN, bgp.KEEPALIVE}:
                raise EOFError
            connection.sendall(bgp.message(bgp.KEEPALIVE))
        except (OSError, EOFError):
            connection.close()
            return
        connection.settimeout(None)
        self._connection = connection
        threading.Thread(target=_listen, args=(connection,), daemon=True).start()


def _listen(connection: socket.socket) -> None:
    """Discard the router's messages, and answer each KEEPALIVE, which is often enough."""
    try:
        while True:
            if _receive(connection) == bgp.KEEPALIVE:
                connection.sendall(bgp.message(bgp.KEEPALIVE))
    except (OSError, EOFError):
        pass


def _receive(connection: socket.socket) -> int:
    """The kind of the next message. Raises EOFError when the router ends the session."""
    length, kind = struct.unpack("!HB", _exactly(connection, 19)[16:])
    _exactly(connection, length - 19)
    return int(kind)


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise EOFError("the router ended the session")
        data += more
    return data
