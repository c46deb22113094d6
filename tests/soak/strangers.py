"""``python -m tests.soak.strangers DIRECTORY SECONDS HOST SOURCE...``: who use up the web half.

Each source holds three HTTP/2 connections full of sign-ins whose bodies trickle, and asks for pages on a
fourth as fast as they are answered. What is closed is opened again. Prints what came back as JSON.
"""

from __future__ import annotations

import json
import ssl
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from tests.front_door import H2, HEADERS, RST_STREAM, connect

SLOW, STREAMS, AT_ONCE = 3, 32, 16
_counted: Counter[str] = Counter()
_lock = threading.Lock()


def _count(what: str) -> None:
    with _lock:
        _counted[what] += 1


def _trickle(connection: H2, until: float) -> None:
    """Keep as many bodies open as the server takes, a byte at a time."""
    connection.timeout(0.5)
    streams: list[int] = []
    while time.monotonic() < until:
        while len(streams) < STREAMS:
            streams.append(connection.post("/login"))
        for stream in streams:
            connection.body(stream, b"x")
        with suppress(TimeoutError):
            while True:
                kind, stream, _ = connection.read()
                if kind in (HEADERS, RST_STREAM) and stream in streams:
                    streams.remove(stream)
                    _count("bodies ended by the server")


def _ask(connection: H2, until: float) -> None:
    """Keep some pages asked for."""
    connection.timeout(5)
    open_streams = {connection.get("/login") for _ in range(AT_ONCE)}
    while time.monotonic() < until:
        kind, stream, body = connection.read()
        if kind in (HEADERS, RST_STREAM) and stream in open_streams:
            open_streams.remove(stream)
            open_streams.add(connection.get("/login"))
            _count("pages answered")
        if kind == 0 and body:
            connection.taken(stream, len(body))


def _attack(directory: Path, host: str, source: str, slow: bool, until: float) -> None:
    while time.monotonic() < until:
        try:
            connection = H2(connect(directory, source, host, "h2", timeout_s=5))
            try:
                (_trickle if slow else _ask)(connection, until)
            finally:
                connection.close()
        except (OSError, ssl.SSLError):
            _count("connections ended")
            time.sleep(0.05)


def main(directory: Path, seconds: float, host: str, sources: list[str]) -> None:
    """Attack from all sources at once."""
    until = time.monotonic() + seconds
    kinds = [True] * SLOW + [False]
    threads = [
        threading.Thread(target=_attack, args=(directory, host, source, slow, until))
        for source in sources
        for slow in kinds
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(_counted))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4:])
