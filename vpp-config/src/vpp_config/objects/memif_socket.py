"""A socket through which memif interfaces connect, and what the connecting end offers on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar, Literal

from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import Dumps
from vpp_config.objects.base import VppObject

MemifRole = Literal["master", "slave"]

SOCKETS = request("memif_socket_filename_dump")
_NUMBER_BITS = 2**17 - 1
MAX_NUMBER = _NUMBER_BITS - 1
"""With all bits of an id set, VPP chooses one itself."""
MIN_RING, MAX_RING = 128, 16384
BUFFER_BYTES = (2048, 4096, 8192, 16384)
MAX_QUEUES = 16
_FOLDER = "memif"
_NAME = re.compile(r"^[a-z][a-z0-9._-]{0,14}$")
_OURS, _SLAVE = 1 << 31, 1 << 30
_RING_AT, _BUFFER_AT, _RX_AT, _TX_AT = 27, 25, 21, 17
_LOG2_MIN_RING = MIN_RING.bit_length() - 1


@dataclass(frozen=True)
class MemifRings:
    """The slave's offer: entries of a ring, bytes of an entry's buffer, queues from the slave's point of
    view.
    """

    ring_size: int = 1024
    buffer_bytes: int = 2048
    rx_queues: int = 1
    tx_queues: int = 1

    def __post_init__(self) -> None:
        if not MIN_RING <= self.ring_size <= MAX_RING or self.ring_size & (self.ring_size - 1):
            raise ValueError(f"ring_size is not a power of two within {MIN_RING}..{MAX_RING}")
        if self.buffer_bytes not in BUFFER_BYTES:
            raise ValueError(f"buffer_bytes is none of {', '.join(map(str, BUFFER_BYTES))}")
        if not (1 <= self.rx_queues <= MAX_QUEUES and 1 <= self.tx_queues <= MAX_QUEUES):
            raise ValueError(f"a number of queues is outside 1..{MAX_QUEUES}")


@dataclass(frozen=True)
class MemifSocket(VppObject):
    """``memif/<name>.sock`` below VPP's runtime directory. The master listens on it, a slave connects.

    VPP reports the sizes of a memif's rings only at the slave's end and while it is connected, and never its
    queues. The requested values are therefore encoded in something that VPP returns unchanged: the socket's
    id. Slaves with other rings on one file have a socket of their own.
    """

    kind = "memif_socket"
    plugins = ("memif",)
    tables: ClassVar[tuple[Request, ...]] = (SOCKETS,)
    gone: ClassVar = {"memif_socket_filename_add_del_v2": frozenset({-73})}

    name: str
    number: int
    rings: MemifRings | None = None
    """For a slave; None: this end is the master, which accepts the slave's offer."""

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise ValueError(f"{self.name!r} is not a small letter and at most 14 of a-z 0-9 . _ -")
        if not 0 <= self.number <= MAX_NUMBER:
            raise ValueError(f"number is outside 0..{MAX_NUMBER}")

    @property
    def socket_id(self) -> int:
        """VPP's number of the socket, which encodes the rings."""
        return socket_id(self.number, self.rings)

    @property
    def key(self) -> str:
        """``memif_socket/<id>``."""
        return socket_token(self.socket_id)

    def label(self) -> str:
        """``memif socket left``."""
        return f"memif socket {self.name}"

    def create(self, vpp: Access) -> None:
        """Register the file name. VPP makes its folder now, and the file with the first interface of a
        master.
        """
        self._add_del(vpp, is_add=True, filename=f"{_FOLDER}/{self.name}.sock")

    def delete(self, vpp: Access) -> None:
        """Unregister the name; VPP refuses while an interface uses it."""
        self._add_del(vpp, is_add=False, filename="")

    def _add_del(self, vpp: Access, *, is_add: bool, filename: str) -> None:
        vpp.call(
            "memif_socket_filename_add_del_v2",
            is_add=is_add,
            socket_id=self.socket_id,
            socket_filename=filename,
        )

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[MemifSocket]:
        """Sockets with an id of ours, in our folder."""
        for reply in dumps.table(SOCKETS):
            path = PurePosixPath(reply.socket_filename)
            number, ours = int(reply.socket_id) & _NUMBER_BITS, int(reply.socket_id) & _OURS
            if ours and path.parent.name == _FOLDER and path.suffix == ".sock" and _NAME.match(path.stem):
                yield cls(path.stem, number, rings_of(int(reply.socket_id)))


def socket_token(number: int) -> str:
    """The token that a socket provides to the interfaces on it; ``number`` is VPP's."""
    return f"memif_socket/{number}"


def socket_id(number: int, rings: MemifRings | None) -> int:
    """VPP's number of a socket: 1 bit for "ours", 1 slave, 3 ring, 2 buffer, 4 + 4 queues, 17 number."""
    if rings is None:
        return _OURS | number
    return (
        _OURS
        | _SLAVE
        | (rings.ring_size.bit_length() - 1 - _LOG2_MIN_RING) << _RING_AT
        | BUFFER_BYTES.index(rings.buffer_bytes) << _BUFFER_AT
        | (rings.rx_queues - 1) << _RX_AT
        | (rings.tx_queues - 1) << _TX_AT
        | number
    )


def rings_of(number: int) -> MemifRings | None:
    """The rings encoded in VPP's number of a socket; None: the master's."""
    if not number & _SLAVE:
        return None
    return MemifRings(
        MIN_RING << (number >> _RING_AT & 7),
        BUFFER_BYTES[number >> _BUFFER_AT & 3],
        (number >> _RX_AT & 15) + 1,
        (number >> _TX_AT & 15) + 1,
    )
