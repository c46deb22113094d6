"""The protocol of a daemon's vty Unix socket, as vtysh speaks it.

A command is its text and a NUL. The answer is the output, three NULs and a status byte, one of those in
lib/command.h of FRR.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from frr_config.errors import FrrCommandError, FrrUnavailable
from frr_config.masking import mask_line

_END = b"\0\0\0"
_CHUNK_BYTES = 1 << 18
_SEPARATORS = frozenset("\0\r\n")
_SUCCESS, _WARNING = 0, 1


@dataclass(frozen=True, slots=True)
class Answer:
    """A daemon's answer to one command."""

    status: int
    output: str

    @property
    def is_success(self) -> bool:
        """bgpd returns the status for a warning, without any text, for a redistribution that already
        exists.
        """
        return self.status == _SUCCESS or (self.status == _WARNING and not self.output.strip())


class Vty:
    """A connection to one daemon, made when needed and made again after the daemon restarted. Not
    thread-safe.
    """

    def __init__(self, vty_dir: Path, daemon: str, timeout_s: float) -> None:
        self.daemon = daemon
        self._path = vty_dir / f"{daemon}.vty"
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self.generation = 0
        """Grows with each new connection: earlier knowledge of the daemon may be wrong."""

    def close(self) -> None:
        """Drop the connection; the daemon forgets a half-read answer and an open configuration mode."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.close()
            self._socket = None

    def ask(self, command: str) -> Answer:
        """Run one command. Connects again to a daemon that was restarted since the last command.

        Raises FrrUnavailable.
        """
        fresh = self._socket is None
        try:
            self.send(command)
            return self.receive()
        except FrrUnavailable:
            if fresh:
                raise
        self.send(command)
        return self.receive()

    def run(self, command: str) -> str:
        """Run one command and return what it prints. Raises FrrCommandError, FrrUnavailable."""
        answer = self.ask(command)
        if not answer.is_success:
            raise refusal(self.daemon, command, answer)
        return answer.output

    def send(self, command: str) -> None:
        """Send a command; ``receive`` has to follow. Raises FrrUnavailable.

        ValueError for text that a daemon would read as more than one command.
        """
        if not _SEPARATORS.isdisjoint(command):
            raise ValueError(f"a command to {self.daemon} is one line")
        connection = self._connected()
        try:
            connection.sendall(command.encode() + b"\0")
        except OSError as error:
            self.close()
            raise FrrUnavailable(self.daemon, str(error)) from None

    def receive(self) -> Answer:
        """The whole answer. Raises FrrUnavailable."""
        parts = list(self._chunks())
        body = b"".join(parts)
        return Answer(body[-1], body[: -len(_END) - 1].decode(errors="replace"))

    def receive_all(self, count: int) -> list[Answer]:
        """The answers to this many commands that were sent without waiting. Raises FrrUnavailable."""
        answers: list[Answer] = []
        held = bytearray()
        start = 0
        while len(answers) < count:
            end = held.find(_END, start)
            if end < 0 or end + len(_END) >= len(held):
                held += self._received()
                continue
            answers.append(Answer(held[end + len(_END)], held[start:end].decode(errors="replace")))
            start = end + len(_END) + 1
        return answers

    def stream(self, command: str) -> Iterator[str]:
        """The output of a command in pieces. A reader that stops early closes the connection.

        Raises FrrUnavailable.
        """
        self.send(command)
        held = b""
        finished = False
        try:
            for chunk in self._chunks():
                # The status, and a character cut in two, may be in the next piece.
                held += chunk
                ready, held = held[:-8], held[-8:]
                whole, rest = _whole_characters(ready)
                held = rest + held
                if whole:
                    yield whole
            finished = True
            yield held[: -len(_END) - 1].decode(errors="replace")
        finally:
            if not finished:
                self.close()

    def _chunks(self) -> Iterator[bytes]:
        """The bytes as they arrive, until the end of the answer."""
        tail = b""
        while True:
            chunk = self._received()
            yield chunk
            tail = (tail + chunk)[-len(_END) - 1 :]
            if len(tail) > len(_END) and tail.startswith(_END):
                return

    def _received(self) -> bytes:
        connection = self._connected()
        try:
            chunk = connection.recv(_CHUNK_BYTES)
        except OSError as error:
            self.close()
            raise FrrUnavailable(self.daemon, str(error)) from None
        if not chunk:
            self.close()
            raise FrrUnavailable(self.daemon, "it closed the connection")
        return chunk

    def _connected(self) -> socket.socket:
        if self._socket is not None:
            return self._socket
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        connection.settimeout(self._timeout_s)
        try:
            connection.connect(str(self._path))
        except OSError as error:
            connection.close()
            raise FrrUnavailable(self.daemon, str(error)) from None
        self._socket = connection
        self.generation += 1
        try:
            connection.sendall(b"enable\0")
            for _ in self._chunks():
                pass
        except OSError as error:
            self.close()
            raise FrrUnavailable(self.daemon, str(error)) from None
        return connection


def refusal(daemon: str, line: str, answer: Answer) -> FrrCommandError:
    """The error for a line that was refused, without the line's secret."""
    masked = mask_line(line)
    output = " ".join(answer.output.split()) or f"status {answer.status}"
    if masked != line:
        secret = line[len(masked.rsplit(" ", 1)[0]) + 1 :]
        output = output.replace(line, masked).replace(secret, "********")
    return FrrCommandError(daemon, masked, output)


def _whole_characters(data: bytes) -> tuple[str, bytes]:
    """The text of all complete UTF-8 characters, and the bytes left over."""
    end = len(data)
    while end > 0 and len(data) - end < 4 and data[end - 1] & 0xC0 == 0x80:
        end -= 1
    if end > 0 and data[end - 1] >= 0xC0:
        end -= 1
        if (data[end] >= 0xF0) + (data[end] >= 0xE0) + (data[end] >= 0xC0) < len(data) - end:
            end = len(data)
    else:
        end = len(data)
    return data[:end].decode(errors="replace"), data[end:]
