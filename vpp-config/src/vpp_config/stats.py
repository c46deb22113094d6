"""VPP's stats segment: counters in shared memory, read without asking VPP.

The layout is ``vlib/stats/shared.h`` of 26.06, segment version 2: a header, a directory of 144-byte entries,
and vectors whose length is the 32-bit word 8 bytes before them. Pointers are addresses in VPP; subtracting
``base`` gives offsets. VPP changes the directory under ``in_progress`` and increments ``epoch``; a read that
meets either is repeated. The directory is parsed once per epoch, so that a sample costs only the counters it
reads.

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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from vpp_config.errors import StatsUnavailable

STATS_SOCKET = "/run/vpp/stats.sock"

_T = TypeVar("_T")
_Counters = tuple[list[str], dict[int, dict[int, list[str]]]]
"""Names of simple counters; names of symbolic links by the position of their target and their index there."""
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
    """The segment of one VPP: attached at the first read, and again after VPP restarts. Not thread-safe."""

    def __init__(self, stats_socket: str | Path = STATS_SOCKET) -> None:
        self._path = str(stats_socket)
        self._map: mmap.mmap | None = None
        self._process: int | None = None
        self._base = 0
        self._epoch = -1
        self._entries: dict[str, tuple[int, int, int]] = {}  # type, value, offset of the entry
        # Looked up by every sample, for this epoch.
        self._names_by_prefix: dict[str, list[str]] = {}
        self._counters_by_prefix: dict[str, _Counters] = {}

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
            # The memory outlives VPP, and VPP closes the socket at once: only the process shows that VPP is
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
        """The result of ``reader`` on a segment that VPP did not change during the read.

        ``reader`` may be called several times, and uses only the methods below. Raises
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
                pass  # a stale pointer; the epoch will have changed
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
            self._names_by_prefix.clear()
            self._counters_by_prefix.clear()
        return epoch

    def names(self, prefix: str) -> Sequence[str]:
        """The entries with this prefix."""
        known = self._names_by_prefix.get(prefix)
        if known is None:
            known = self._names_by_prefix[prefix] = [
                name for name in self._entries if name.startswith(prefix)
            ]
        return known

    def scalar(self, name: str) -> int:
        """A scalar or a gauge; 0 where there is none. It is in the directory itself and is read each time."""
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

    def counted(self, prefix: str) -> dict[str, int]:
        """The non-zero simple counters under a prefix, summed over threads and indices.

        A symbolic link stands for one index of another counter. Thousands of them share a vector, mostly of
        zeros: it is read once, and only non-zero values are looked up.
        """
        plain, links = self._counters(prefix)
        totals = {name: sum(sum(vector) for vector in self.simple(name)) for name in plain}
        for target, names in links.items():
            for vector in self._pointers(self._target(target)):
                for index, count in enumerate(self._words(vector, 1)):
                    if count:
                        for name in names.get(index, ()):
                            totals[name] = totals.get(name, 0) + count
        return {name: total for name, total in totals.items() if total}

    def _counters(self, prefix: str) -> _Counters:
        """The simple counters under a prefix, and its symbolic links."""
        known = self._counters_by_prefix.get(prefix)
        if known is None:
            plain, links = known = self._counters_by_prefix[prefix] = ([], {})
            for name in self.names(prefix):
                kind, value, _ = self._entries[name]
                if kind == SIMPLE:
                    plain.append(name)
                elif kind == SYMLINK:
                    links.setdefault(value & 0xFFFFFFFF, {}).setdefault(value >> 32, []).append(name)
        return known

    def _target(self, position: int) -> int:
        """Value of the directory's entry at a position, read each time."""
        assert self._map is not None
        directory = _HEADER.unpack_from(self._map)[4]
        return int(_ENTRY.unpack_from(self._map, directory - self._base + position * _ENTRY_BYTES)[1])

    def _threads(self, name: str, wanted: int) -> list[int]:
        kind, value, _ = self._entries.get(name, (0, 0, 0))
        return self._pointers(value) if kind == wanted else []

    def _pointers(self, vectors: int) -> list[int]:
        """The threads' vectors of a counter; a thread that has not counted yet has none."""
        return [pointer for pointer in self._words(vectors, 1) if pointer] if vectors else []

    def _length(self, pointer: int) -> int:
        assert self._map is not None
        return int(struct.unpack_from("<I", self._map, pointer - self._base - 8)[0])

    def _words(self, pointer: int, each: int) -> list[int]:
        """A vector of elements of ``each`` 64-bit words, flat."""
        assert self._map is not None
        count = self._length(pointer) * each
        return list(struct.unpack_from(f"<{count}Q", self._map, pointer - self._base))
