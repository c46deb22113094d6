"""Bytes that no honest peer would send, made from valid ones, and the sockets that have to bear them.

A case is a mutation of a valid message. Everything comes from a seed, so that a case can be sent again.
"""

from __future__ import annotations

import json
import random
import select
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tests import bmp_stream as bmp
from tests import fpm_stream as fpm
from tests.bgp_index_process import BgpIndex
from tests.fib_feeder import Feeder

_PAGE_BYTES = 4096
_INTERESTING = (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 129, 254, 255)
_LIMIT_S = 60.0
_EXCHANGE_S = 20.0
"""Less than a socket bears with a client that says nothing: one that was answered is let go at once."""
_LONGEST = 60_000
"""Bytes of a case: a frame of FPM counts its length in 16 bits."""


class Mutator:
    """Mutations of ``seeds``; the same seed makes the same ones."""

    def __init__(self, seed: int, seeds: Sequence[bytes]) -> None:
        self._random, self._seeds = random.Random(seed), list(seeds)

    def case(self) -> bytes:
        """The next one."""
        bytes_ = bytearray(self._random.choice(self._seeds))
        for _ in range(self._random.choice((1, 1, 1, 2, 3, 6))):
            self._change(bytes_)
        return bytes(bytes_[:_LONGEST])

    def one_in(self, count: int) -> bool:
        """True once in so many."""
        return self._random.randrange(count) == 0

    def _change(self, data: bytearray) -> None:
        at = self._random.randrange(len(data) + 1)
        length = self._random.choice((1, 1, 2, 4, 8, 40))
        match self._random.randrange(8):
            case 0 | 1 if at < len(data):
                data[at] = self._random.choice(_INTERESTING)
            case 2 if at < len(data):
                data[at] ^= 1 << self._random.randrange(8)
            case 3:
                del data[at : at + length]
            case 4:
                data[at:at] = self._random.randbytes(length)
            case 5:
                data[at:at] = data[at : at + length] * self._random.choice((1, 2, 16))
            case 6:
                del data[at:]
            case _:
                other = self._random.choice(self._seeds)
                data[at:] = other[self._random.randrange(len(other) + 1) :]


class Target(Protocol):
    """A socket that parses a stranger's bytes."""

    pid: int

    def send(self, case: bytes) -> None:
        """One case; returns when the socket took it, and whoever it belongs to may have hung up."""

    def settle(self) -> None:
        """Have everything read and given back that the cases left, and see that the process still answers.

        Raises AssertionError.
        """


def endure(target: Target, mutator: Mutator, count: int) -> int:
    """Send ``count`` cases; bytes of resident memory that the second half added to the first half's.

    Raises AssertionError with the last cases when the process does not answer any more.
    """
    last: list[bytes] = []
    resident = []
    for half in (count // 2, count - count // 2):
        for number in range(half):
            last = [*last[-19:], mutator.case()]
            try:
                target.send(last[-1])
                if number % 2000 == 1999:
                    assert _runs(target.pid), "the process ended"
            except (OSError, AssertionError) as error:
                raise AssertionError(f"{error}; the last cases: {[case.hex() for case in last]}") from error
        try:
            target.settle()
        except (OSError, AssertionError) as error:
            raise AssertionError(f"{error}; the last cases: {[case.hex() for case in last]}") from error
        resident.append(_resident_bytes(target.pid))
    return resident[1] - resident[0]


def _runs(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def _resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


def _wait(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + _LIMIT_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


FPM_SEEDS = [
    frame[4:]
    for frame in (
        fpm.frame(fpm.next_hop(1, "192.0.2.2", 2), fpm.route("198.51.100.0/24", 1)),
        fpm.frame(fpm.next_hop(2, "2001:db8::2", 3), fpm.route("2001:db8:1::/48", 2)),
        fpm.frame(fpm.next_hop(3, None, 2), fpm.group(4, [(1, 1), (2, 200), (3, 1)])),
        fpm.frame(fpm.route("203.0.113.128/25", 4, table=1001)),
        fpm.frame(fpm.withdraw("198.51.100.0/24"), fpm.route("198.51.100.0/24", 4)),
        fpm.frame(fpm.withdraw("2001:db8:1::/48"), fpm.next_hop_gone(2)),
        fpm.frame(fpm.special("0.0.0.0/0", fpm.BLACKHOLE), fpm.special("::/0", fpm.UNREACHABLE)),
    )
]
"""Payloads of frames."""


class FpmTarget:
    """The feeder's FPM; its VPP is not there."""

    def __init__(self, feeder: Feeder, mutator: Mutator) -> None:
        self._feeder, self._mutator, self.pid = feeder, mutator, feeder.pid
        self._zebra = feeder.zebra()

    def send(self, case: bytes) -> None:
        """Mostly in a frame of the right length: what is inside is parsed then."""
        head = struct.pack(">BBH", 1, 1, 4 + len(case))
        whole = head + case
        if self._mutator.one_in(500):
            whole = Mutator(len(case), [whole]).case()
        try:
            self._zebra.send(whole)
        except OSError:
            self._zebra.close()
            self._zebra = self._feeder.zebra()

    def settle(self) -> None:
        """A zebra that wants nothing: after its walk nothing is left of the others'."""
        self._zebra.close()
        self._zebra = self._feeder.zebra()

        def empty() -> bool:
            status = self._feeder.status()
            wanted = status["ipv4"]["wanted"] + status["ipv6"]["wanted"]
            return not status["zebra"]["resync"] and wanted == 0 and status["next_hop_groups"] == 0

        _wait(empty, "routes of a zebra that is gone are left")


_PEER = bmp.Peer("192.0.2.1", 65001)
_PEER_V6 = bmp.Peer("2001:db8::1", 65002)
_PATH = bmp.attribute(1, b"\0") + bmp.as_path([65001, 65010], frozenset({65020, 65021}))
_ATTRIBUTES = _PATH + bmp.communities((65001, 1)) + bmp.large_communities((65001, 1, 2))
BMP_SEEDS = [
    message[5:]
    for message in (
        bmp.peer_up(_PEER),
        bmp.peer_up(_PEER_V6),
        bmp.announcement(_PEER, "198.51.100.0/24", _ATTRIBUTES + bmp.next_hop("192.0.2.1")),
        bmp.announcement(_PEER_V6, "2001:db8:1::/48", _ATTRIBUTES, hop="2001:db8::1"),
        bmp.withdrawal(_PEER, "198.51.100.0/24"),
        bmp.withdrawal(_PEER_V6, "2001:db8:1::/48"),
        bmp.end_of_rib(_PEER, 6),
        bmp.peer_down(_PEER),
        bmp.initiation(),
    )
]
"""Messages from their type on."""


class BmpTarget:
    """The index, connected to a bgpd that is not one."""

    def __init__(self, index: BgpIndex, listener: bmp.Listener, mutator: Mutator) -> None:
        self._index, self._listener, self._mutator, self.pid = index, listener, mutator, index.pid
        self._open()

    def _open(self) -> None:
        self._index.search("ipv4")
        _wait(lambda: self._index.search("ipv4") and self._listener.is_asked(), "the index does not connect")
        self._listener.accept()
        self._listener.send(bmp.initiation(), bmp.peer_up(_PEER), bmp.peer_up(_PEER_V6))

    def send(self, case: bytes) -> None:
        """Mostly a message of the right length, and not the one that ends the session."""
        kind = case[:1]
        if kind in (b"", b"\x05") or (kind[0] > 6 and not self._mutator.one_in(100)):
            kind = b"\0"
        whole = struct.pack("!BI", 3, 5 + len(kind + case[1:])) + kind + case[1:]
        if self._mutator.one_in(5000):
            whole = Mutator(len(case), [whole]).case()
        try:
            self._listener.send(whole)
        except OSError:
            self._listener.hang_up()
            self._open()

    def settle(self) -> None:
        """It gives everything back."""
        self._listener.hang_up()
        self._index.ask("release")
        _wait(lambda: self._index.status()["memory_bytes"] < 1 << 20, "memory was not given back")
        self._open()


def tell_a_table(index: BgpIndex, listener: bmp.Listener) -> None:
    """Give the index a table, whole: a search waits for one that is being read."""
    index.search("ipv4 wait=0")
    listener.accept()
    ends = [bmp.end_of_rib(peer, family) for peer in (_PEER, _PEER_V6) for family in (4, 6)]
    told = [struct.pack("!BI", 3, 5 + len(seed)) + seed for seed in (BMP_SEEDS[2], BMP_SEEDS[3])]
    listener.send(bmp.initiation(), bmp.peer_up(_PEER), bmp.peer_up(_PEER_V6), *told, *ends)
    index.wait_for("ready")


QUESTIONS = [
    line.encode() + b"\n"
    for line in (
        "status",
        "barrier 10",
        "vacate lan0 10",
        "again 10.0.0.0/8 1001",
        "again 2001:db8::/32",
        "most 1000000",
        "routes ipv4 table=1001 within=10.0.0.0/8 protocol=186 via=192.0.2.1 missing offset=5 limit=1000",
        "routes ipv6 within=2001:db8::/32 via=fe80::1",
        "protocols 1001",
    )
]
"""Of the feeder's status socket."""
SEARCHES = [
    line.encode() + b"\n"
    for line in (
        "status",
        "search ipv4 within=198.51.100.0/24 neighbor=192.0.2.1 offset=0 limit=1000",
        "search ipv6 covering=2001:db8:1::1 first_as=65001 wait=0",
        "search ipv4 exact=198.51.100.0/24 path=65001_65010 path_length=1-5",
        "search ipv4 community=65001:1 large_community=65001:1:2 origin_as=65020",
        "search ipv6 extended_community=rt:65001:1 next_hop=2001:db8::1 neighbor=self",
        "search ipv4 community=no-export as=65010",
    )
]
"""Of the index's socket."""


class LinesTarget:
    """A socket that answers lines: `alive` sees that it still does."""

    def __init__(self, path: Path, pid: int, alive: Callable[[], object]) -> None:
        self._path, self.pid, self._alive = path, pid, alive
        self.answers: Counter[str] = Counter()

    def send(self, case: bytes) -> None:
        """One connection for each; a question that holds the connection ends with it."""
        answer = exchange(self._path, case)
        for line in answer.splitlines():
            told = json.loads(line)
            self.answers["error" if "error" in told else "answer"] += 1

    def settle(self) -> None:
        """It answers."""
        assert self._alive()


def exchange(path: Path, case: bytes) -> bytes:
    """Send everything, then read until the end."""
    return b"".join(_exchanged(path, case))


def _exchanged(path: Path, case: bytes) -> Iterator[bytes]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_EXCHANGE_S)
        connection.connect(str(path))
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(case)
            # An answer may need more than one turn: who hangs up first does not get it.
            select.select([connection], [], [], 0.005)
            connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65536):
                yield chunk


_DOCUMENT = json.dumps(
    {
        "document": {
            "schema_version": 1,
            "interfaces": {"lo1": {"type": "loopback", "addresses": ["192.0.2.1/24"]}},
            "routing": {"static": {"198.51.100.0/24": {"next_hops": [{"address": "192.0.2.2"}]}}},
        },
        "author": "alice",
    }
).encode()


def _request(method: str, path: str, body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


REQUESTS = [
    *(
        _request("GET", path)
        for path in ("/v1/status", "/v1/config", "/v1/revisions?limit=2", "/v1/commits/a")
    ),
    *(_request("GET", path) for path in ("/v1/revisions/1", "/v1/counters/history?interface=lo1&from=0")),
    *(_request("GET", path) for path in ("/v1/state/interfaces", "/v1/logs?after=none", "/v1/traces/abc")),
    *(_request("POST", path, _DOCUMENT) for path in ("/v1/check", "/v1/plan", "/v1/validate", "/v1/commit")),
    _request("POST", "/v1/confirm", b'{"revision": 1}'),
    _request("POST", "/v1/seal", b'{"text": "secret"}'),
    _request("POST", "/v1/edits/plan", b'{"edits": [{"path": "/interfaces/lo1", "value": {}}]}'),
    b"POST /v1/plan HTTP/1.1\r\nHost: a\r\n"
    b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n',
]
"""To the agent's socket."""


class HttpTarget:
    """The agent's socket."""

    def __init__(self, path: Path, pid: int, alive: Callable[[], object]) -> None:
        self._path, self.pid, self._alive = path, pid, alive
        self.statuses: Counter[int] = Counter()

    def send(self, case: bytes) -> None:
        """A request, or what is left of one; an answer is never an error of the agent's own."""
        answer = exchange(self._path, case)
        if answer.startswith(b"HTTP/1."):
            status = int(answer.split(b" ", 2)[1])
            self.statuses[status] += 1
            assert status != 500, answer[:2000]

    def settle(self) -> None:
        """It answers."""
        assert self._alive()
