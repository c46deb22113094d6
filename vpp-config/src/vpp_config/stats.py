"""VPP's stats segment: counters in shared memory, read without asking VPP.

The layout is ``vlib/stats/shared.h`` of 26.06, segment version 2: a header, a directory of 144-byte entries,
and vectors whose length is the 32-bit word 8 bytes before them. Pointers are VPP's own addresses; ``base``
takes them to offsets. VPP changes the directory under ``in_progress`` and counts ``epoch`` up; a read that
met either is done again. The directory is parsed once per epoch, so that a sample costs only the counters it
takes.

vpp_papi has a reader too; it makes one Python object for each counter of the segment and keeps its sockets
open.
"""

from __future__ import annotations

import array
import mmap
import os
import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from vpp_config.errors import StatsUnavailable

STATS_SOCKET = "/run/vpp/stats.sock"

_T = TypeVar("_T")
_HEADER = struct.Struct("<QQQQQ")  # version, base, epoch, in_progress, directory
_ENTRY = struct.Struct("<I4xQ128s")
_ENTRY_BYTES = 144
_CREDENTIALS = struct.Struct("iII")  # pid, uid, gid
_VERSION = 2
_RETRIES = 50
_RETRY_S = 0.002
_CONNECT_TIMEOUT_S = 5.0

SCALAR, SIMPLE, COMBINED, NAMES, SYMLINK, GAUGE = 1, 2, 3, 4, 6, 9


class _Moving(Exception):
    """VPP changed the segment during the read."""


class StatsSegment:
    """The segment of one VPP: attached when first read, attached again after VPP restarts. Not
    thread-safe.
    """

    def __init__(self, stats_socket: str | Path = STATS_SOCKET) -> None:
        self._path = str(stats_socket)
        self._map: mmap.mmap | None = None
        self._process: int | None = None
        self._base = 0
        self._epoch = -1
        self._entries: dict[str, tuple[int, int, int]] = {}  # type, value, offset of the entry

    # -- life

    def close(self) -> None:
        """Detach."""
        if self._map is not None:
            self._map.close()
            self._map = None
        if self._process is not None:
            os.close(self._process)
            self._process = None
        self._epoch = -1

    def _attach(self) -> mmap.mmap:
        if self._map is not None and self._alive():
            return self._map
        self.close()
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.settimeout(_CONNECT_TIMEOUT_S)
        try:
            connection.connect(self._path)
            descriptors = array.array("i")
            _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_LEN(descriptors.itemsize))
            for level, kind, data in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    descriptors.frombytes(data[: descriptors.itemsize])
            if not descriptors:
                raise StatsUnavailable(f"VPP gave no stats segment at {self._path}")
            try:
                segment = mmap.mmap(descriptors[0], os.fstat(descriptors[0]).st_size, prot=mmap.PROT_READ)
            finally:
                os.close(descriptors[0])
            self._map = segment
            # The memory outlives VPP and VPP closes the socket at once: only the process tells that it is
            # alive.
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            self._process = os.pidfd_open(_CREDENTIALS.unpack(credentials)[0])
        except OSError as error:
            self.close()
            raise StatsUnavailable(f"cannot attach VPP's stats at {self._path}: {error}") from error
        finally:
            connection.close()
        version = _HEADER.unpack_from(segment)[0]
        if version != _VERSION:
            self.close()
            raise StatsUnavailable(f"VPP's stats segment is of version {version}, not {_VERSION}")
        return segment

    def _alive(self) -> bool:
        assert self._process is not None
        poll = select.poll()
        poll.register(self._process, select.POLLIN)
        return not poll.poll(0)

    # -- reading

    def read(self, reader: Callable[[StatsSegment], _T]) -> _T:
        """What ``reader`` makes of a segment that VPP did not change meanwhile.

        ``reader`` may be called again and again, and uses the methods below only. Raises
        :class:`StatsUnavailable` when VPP is not there.
        """
        for _ in range(_RETRIES):
            segment = self._attach()
            try:
                epoch = self._enter(segment)
                result = reader(self)
                if self._now(segment) == epoch:
                    return result
            except (_Moving, struct.error, IndexError, ValueError):
                pass  # a pointer of yesterday; the epoch will have moved
            time.sleep(_RETRY_S)
        raise StatsUnavailable("VPP's stats segment never rests")

    def _now(self, segment: mmap.mmap) -> int:
        _, _, epoch, in_progress, _ = _HEADER.unpack_from(segment)
        if in_progress:
            raise _Moving
        return int(epoch)

    def _enter(self, segment: mmap.mmap) -> int:
        epoch = self._now(segment)
        if epoch != self._epoch:
            _, self._base, _, _, directory = _HEADER.unpack_from(segment)
            entries = {}
            start = directory - self._base
            for position in range(self._length(directory)):
                offset = start + position * _ENTRY_BYTES
                kind, value, raw = _ENTRY.unpack_from(segment, offset)
                if kind:
                    entries[raw.partition(b"\0")[0].decode(errors="replace")] = (kind, value, offset)
            self._entries, self._epoch = entries, epoch
        return epoch

    def names(self, prefix: str) -> Iterator[str]:
        """The entries that begin so."""
        return (name for name in self._entries if name.startswith(prefix))

    def scalar(self, name: str) -> int:
        """A scalar or a gauge; 0 where there is none. It lies in the directory itself and is read anew."""
        kind, _, offset = self._entries.get(name, (0, 0, 0))
        if kind not in (SCALAR, GAUGE):
            return 0
        assert self._map is not None
        return int(_ENTRY.unpack_from(self._map, offset)[1])

    def simple(self, name: str) -> list[list[int]]:
        """A simple counter's values by thread, then by index; empty where there is none."""
        return [self._words(vector, 1) for vector in self._threads(name, SIMPLE)]

    def combined(self, name: str) -> list[list[int]]:
        """A combined counter by thread: packets and bytes of index 0, of index 1, and so on, in one flat
        list.
        """
        return [self._words(vector, 2) for vector in self._threads(name, COMBINED)]

    def strings(self, name: str) -> list[str]:
        """A vector of names."""
        kind, value, _ = self._entries.get(name, (0, 0, 0))
        if kind != NAMES or not value:
            return []
        assert self._map is not None
        found = []
        for pointer in self._words(value, 1):
            start = pointer - self._base
            end = self._map.find(b"\0", start) if pointer else start
            found.append(self._map[start:end].decode(errors="replace") if pointer else "")
        return found

    def linked(self, name: str) -> int:
        """A symbolic link's counter, added up over the threads: one index of a simple counter vector."""
        kind, value, _ = self._entries.get(name, (0, 0, 0))
        if kind != SYMLINK:
            return sum(sum(vector) for vector in self.simple(name))
        assert self._map is not None
        directory = _HEADER.unpack_from(self._map)[4]
        target, index = value & 0xFFFFFFFF, value >> 32
        _, vectors, _ = _ENTRY.unpack_from(self._map, directory - self._base + target * _ENTRY_BYTES)
        total = 0
        for vector in self._words(vectors, 1):
            if vector and index < self._length(vector):
                total += struct.unpack_from("<Q", self._map, vector - self._base + 8 * index)[0]
        return total

    def _threads(self, name: str, wanted: int) -> list[int]:
        kind, value, _ = self._entries.get(name, (0, 0, 0))
        return [pointer for pointer in self._words(value, 1) if pointer] if kind == wanted and value else []

    def _length(self, pointer: int) -> int:
        assert self._map is not None
        return int(struct.unpack_from("<I", self._map, pointer - self._base - 8)[0])

    def _words(self, pointer: int, each: int) -> list[int]:
        """A vector of ``each`` 64-bit words an element, flat."""
        assert self._map is not None
        count = self._length(pointer) * each
        return list(struct.unpack_from(f"<{count}Q", self._map, pointer - self._base))
