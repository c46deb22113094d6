"""A hostile BGP neighbor as a process: ``python -m tests.soak.bgp_speaker``; prints one JSON object.

It speaks to the router as a neighbor would, sends a number of messages of :mod:`tests.soak.bgp_bytes`, and
comes back whenever the router ends the session.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import struct
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.soak import bgp_bytes as bgp

_PATIENCE_S = 10.0
_AGAIN_S = 0.2


@dataclass
class Speaker:
    """One neighbor, session after session."""

    router: str
    address: str
    asn: int
    hostname: bytes
    hold_s: int = 90
    sessions: int = 0
    refused: int = 0
    sent: Counter[str] = field(default_factory=Counter)

    def established(self, limit_s: float) -> socket.socket:
        """A new session that both sides hold for established. Raises TimeoutError."""
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            try:
                return self._session()
            except (OSError, EOFError):
                self.refused += 1
                time.sleep(_AGAIN_S)
        raise TimeoutError(f"no session with {self.router} within {limit_s:g} s")

    def _session(self) -> socket.socket:
        connection = socket.create_connection(
            (self.router, 179), timeout=_PATIENCE_S, source_address=(self.address, 0)
        )
        try:
            connection.sendall(bgp.opening(self.asn, self.address, self.hostname, self.hold_s))
            kinds = {_receive(connection), _receive(connection)}
            if kinds != {bgp.OPEN, bgp.KEEPALIVE}:
                raise EOFError(f"the router answered {kinds}")
            connection.sendall(bgp.message(bgp.KEEPALIVE))
        except BaseException:
            connection.close()
            raise
        self.sessions += 1
        return connection

    def attack(self, rng: random.Random, count: int, limit_s: float) -> None:
        """Send ``count`` groups of messages over as many sessions as it takes. Raises TimeoutError."""
        hostile = bgp.Hostile(rng, self.asn, self.address)
        connection = self.established(limit_s)
        for _ in range(count):
            kind, messages = hostile.messages()
            self.sent[kind] += len(messages)
            try:
                for data in messages:
                    connection.sendall(data)
                connection.sendall(bgp.message(bgp.KEEPALIVE))
                ended = _ended(connection)
            except OSError:
                ended = True
            if ended:
                connection.close()
                connection = self.established(limit_s)
        connection.close()


def _receive(connection: socket.socket) -> int:
    """The kind of the next message. Raises EOFError when the router ends the session."""
    head = _exactly(connection, 19)
    length, kind = struct.unpack("!HB", head[16:])
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


def _ended(connection: socket.socket) -> bool:
    """Whether the router has closed; what it sent is read and forgotten."""
    connection.setblocking(False)
    try:
        while connection.recv(65536):
            pass
    except BlockingIOError:
        return False
    finally:
        connection.settimeout(_PATIENCE_S)
    return True


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="tests.soak.bgp_speaker", description=__doc__)
    parser.add_argument("--router", required=True)
    parser.add_argument("--address", required=True, help="of this neighbor")
    parser.add_argument("--asn", type=int, required=True)
    parser.add_argument("--hostname", default="", help="told in the FQDN capability; hex")
    parser.add_argument("--farewell", default="", help="text of the shutdown at the end; hex")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--limit-s", type=float, default=60.0, help="for each new session")
    arguments = parser.parse_args()
    speaker = Speaker(arguments.router, arguments.address, arguments.asn, bytes.fromhex(arguments.hostname))
    speaker.attack(random.Random(arguments.seed), arguments.count, arguments.limit_s)
    if arguments.farewell:
        with speaker.established(arguments.limit_s) as connection:
            connection.sendall(bgp.shutdown(bytes.fromhex(arguments.farewell)))
    print(json.dumps({"sessions": speaker.sessions, "refused": speaker.refused, "sent": speaker.sent}))


if __name__ == "__main__":
    main()
