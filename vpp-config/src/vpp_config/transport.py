"""VPP's API socket: framing and the handshake, without any message definition.

A message follows a 16-byte header of which only the length (big endian, bytes 8..12) matters
(``vlibmemory/socket_api``). The handshake is ``sockclnt_create`` (id 15), whose reply lists the id of every
message that this VPP knows, by name and signature.

The last byte received stays in the kernel's queue until more arrives. VPP 26.06 mistakes the end of a
client's stream for "nothing to read" if the last failed system call of its thread returned EAGAIN, and then
keeps the socket for ever. With 16 of these its main loop never ends, and it neither answers nor forwards.
With unread data, the end of a Unix socket is an error (ECONNRESET) instead, on which VPP closes its side,
however our end was closed.
"""

from __future__ import annotations

import select
import socket
import struct
from dataclasses import dataclass

from vpp_config.errors import VppUnavailable

_HEADER = struct.Struct(">QII")
_SOCKCLNT_CREATE = struct.Struct(">HI64s")
_SOCKCLNT_CREATE_ID = 15
# u16 id, u32 client_index, u32 context, i32 response, u32 index, u16 count
_SOCKCLNT_CREATE_REPLY = struct.Struct(">HIIiIH")
_TABLE_ENTRY = struct.Struct(">H64s")
_RECEIVE_BYTES = 1 << 18
_SO_PEEK_OFF = 42
"""Linux's socket option: a peek returns data that no earlier peek returned. Python has no name for it."""


@dataclass(frozen=True)
class Handshake:
    """VPP's answer at connect: our index, and message name with signature -> message id."""

    client_index: int
    message_ids: dict[str, int]


class Transport:
    """One connected API socket. Not thread-safe. Every failure raises :class:`VppUnavailable`."""

    def __init__(self, path: str, *, timeout_s: float) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout_s)
        self._buffer = bytearray()
        self._held = 0
        """Bytes of the kernel's queue that are already in the buffer: the last one received."""
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_PEEK_OFF, 0)
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise VppUnavailable(f"cannot connect to VPP at {path}: {error.strerror or error}") from error

    def handshake(self, name: str) -> Handshake:
        """Introduce this client."""
        self.send([_SOCKCLNT_CREATE.pack(_SOCKCLNT_CREATE_ID, 0, name.encode()[:63])])
        reply = self.receive()
        _, _, _, response, index, count = _SOCKCLNT_CREATE_REPLY.unpack_from(reply)
        if response < 0:
            raise VppUnavailable(f"VPP refused this client ({response})")
        ids = {}
        for i in range(count):
            number, raw = _TABLE_ENTRY.unpack_from(reply, _SOCKCLNT_CREATE_REPLY.size + i * _TABLE_ENTRY.size)
            ids[raw.partition(b"\0")[0].decode()] = number
        return Handshake(index, ids)

    def send(self, messages: list[bytes]) -> None:
        """Send messages in one call."""
        parts = []
        for message in messages:
            parts.append(_HEADER.pack(0, len(message), 0))
            parts.append(message)
        try:
            self._socket.sendall(b"".join(parts))
        except OSError as error:
            raise VppUnavailable(f"VPP went away while being asked: {error}") from error

    def receive(self) -> bytes:
        """Wait for one message, without its header."""
        while True:
            if len(self._buffer) >= _HEADER.size:
                length = _HEADER.unpack_from(self._buffer)[1]
                end = _HEADER.size + length
                if len(self._buffer) >= end:
                    message = bytes(self._buffer[_HEADER.size : end])
                    del self._buffer[:end]
                    return message
            try:
                chunk = self._socket.recv(_RECEIVE_BYTES, socket.MSG_PEEK)
                self._let_go(self._held + len(chunk) - 1)
            except TimeoutError as error:
                raise VppUnavailable("VPP does not answer") from error
            except OSError as error:
                raise VppUnavailable(f"VPP went away: {error}") from error
            if not chunk:
                raise VppUnavailable("VPP closed the connection")
            self._held = 1
            self._buffer += chunk

    def _let_go(self, number_bytes: int) -> None:
        """Remove this many bytes, already read by peeking, from the kernel's queue. Raises OSError."""
        while number_bytes > 0:
            number_bytes -= len(self._socket.recv(number_bytes))

    def alive(self) -> bool:
        """Whether the peer has not hung up, as far as the kernel knows. Never blocks."""
        try:
            poll = select.poll()
            poll.register(self._socket, select.POLLRDHUP)
            return not poll.poll(0)
        except (OSError, ValueError):
            return False  # closed on this side

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
