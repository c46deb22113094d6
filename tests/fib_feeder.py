"""The feeder in a test: its process in a mirror namespace, its answers, and a connection of zebra's kind."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pyroute2 import netns

from lab import feeder, rust_program
from tests.fpm_stream import Zebra


def connect_in(namespace: str, address: tuple[str, int]) -> socket.socket:
    """A TCP connection made inside a network namespace."""
    made: list[socket.socket] = []

    def make() -> None:
        netns.setns(namespace)  # of this thread alone
        made.append(socket.create_connection(address, timeout=10))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    if not made:
        raise ConnectionError(f"nobody listens on {address} in {namespace}")
    return made[0]


class Feeder:
    """A feeder of a test's own. Enter it to start."""

    def __init__(self, namespace: str, directory: Path, vpp: Path, *, options: Sequence[str] = ()) -> None:
        self.namespace, self.directory, self.vpp, self._options = namespace, directory, vpp, options
        self.status_socket = directory / "feeder.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self._zebras: list[Zebra] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        """Its process id. Raises RuntimeError while it does not run."""
        if self._process is None:
            raise RuntimeError("the feeder is not running")
        return self._process.pid

    def argv(self) -> list[str]:
        """The command that runs it in its namespace."""
        program = rust_program.build("feeder", rust_program.TOOLS)
        argv = feeder.argv(
            program, vpp=self.vpp, status=self.status_socket, netns=self.namespace, options=self._options
        )
        return ["ip", "netns", "exec", self.namespace, *argv]

    def start(self) -> None:
        """Start it and wait until it answers."""
        argv = self.argv()
        self.status_socket.unlink(missing_ok=True)
        with (self.directory / "feeder.log").open("ab") as log:
            self._process = subprocess.Popen(argv, stdout=log, stderr=log)
        deadline = time.monotonic() + 10
        while True:
            with contextlib.suppress(OSError):
                self.status()
                return
            assert time.monotonic() < deadline, (self.directory / "feeder.log").read_text()
            time.sleep(0.02)

    def kill(self) -> None:
        """kill -9."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(signal.SIGKILL)
            process.wait(10)

    def ask(self, line: str) -> dict[str, Any]:
        """Ask one question of the status socket."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(620)
            connection.connect(str(self.status_socket))
            connection.sendall(line.encode() + b"\n")
            answer = b""
            while chunk := connection.recv(65536):
                answer += chunk
        read: dict[str, Any] = json.loads(answer)
        return read

    def status(self) -> dict[str, Any]:
        """What it knows."""
        return self.ask("status")

    def barrier(self, timeout_s: float = 30) -> None:
        """Wait until VPP has everything that was sent."""
        deadline = time.monotonic() + timeout_s
        while not all(zebra.all_arrived() for zebra in self._zebras):
            assert time.monotonic() < deadline, "the feeder has not read what was sent"
            time.sleep(0.001)
        answer = self.ask(f"barrier {round(timeout_s * 1000)}")
        assert answer["reached"], (answer, self.status())

    @contextlib.contextmanager
    def vacated(self, name: str, timeout_s: float = 10) -> Iterator[dict[str, Any]]:
        """Keep routes off a mirror during the block; the answer says whether none was left."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout_s + 10)
            connection.connect(str(self.status_socket))
            connection.sendall(f"vacate {name} {round(timeout_s * 1000)}\n".encode())
            with connection.makefile() as answers:
                yield json.loads(answers.readline())

    def zebra(self) -> Zebra:
        """Connect as zebra does."""
        self._zebras.append(zebra := Zebra(connect_in(self.namespace, ("127.0.0.1", 2620))))
        return zebra
