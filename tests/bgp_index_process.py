"""The index of BGP routes as a process of a test's own, and its answers."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lab import bgp_index, rust_program

Answer = dict[str, Any]


class BgpIndex:
    """An index that reads from ``bmp``, in a namespace or in this one. Enter it to start."""

    def __init__(
        self, directory: Path, bmp: str = bgp_index.BMP, *, netns: str = "", options: Sequence[str] = ()
    ) -> None:
        self.socket = directory / "bgp-index.sock"
        self._log = directory / "bgp-index.log"
        self._bmp, self._netns, self._options = bmp, netns, options
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        program = rust_program.build("bgp-index", rust_program.TOOLS)
        argv = [*bgp_index.argv(program, socket=self.socket, bmp=self._bmp), *self._options]
        if self._netns:
            argv = ["ip", "netns", "exec", self._netns, *argv]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(argv, stdout=log, stderr=log)
        deadline = time.monotonic() + 10
        while True:
            with contextlib.suppress(OSError):
                self.status()
                return self
            assert time.monotonic() < deadline, self._log.read_text()
            time.sleep(0.02)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        ended = self._process.poll()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(10)
        assert ended is None, f"it ended by itself: {self._log.read_text()}"

    @property
    def pid(self) -> int:
        """Of the program."""
        assert self._process is not None
        return self._process.pid

    def ask(self, *lines: str) -> list[Answer]:
        """Questions over one connection."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(60)
            connection.connect(str(self.socket))
            with connection.makefile() as answers:
                read = []
                for line in lines:
                    connection.sendall(line.encode() + b"\n")
                    read.append(json.loads(answers.readline()))
        return read

    def status(self) -> Answer:
        """Its status."""
        return self.ask("status")[0]

    def search(self, words: str) -> Answer:
        """The results of a search."""
        return self.ask(f"search {words}")[0]

    def prefixes(self, words: str) -> list[str]:
        """The prefixes of a page."""
        return [row["prefix"] for row in self.search(words)["rows"]]

    def wait(self, condition: Callable[[Answer], bool], what: str, timeout_s: float = 20) -> Answer:
        """Until its status says so."""
        deadline = time.monotonic() + timeout_s
        while not condition(status := self.status()):
            assert time.monotonic() < deadline, f"{what} did not happen within {timeout_s:g} s: {status}"
            time.sleep(0.02)
        return status

    def wait_for(self, state: str, timeout_s: float = 20) -> Answer:
        """Until it is in this state."""
        return self.wait(lambda status: bool(status["state"] == state), f"state {state}", timeout_s)

    def wait_paths(self, family: str, count: int) -> Answer:
        """Wait until it holds this many paths of a family."""
        return self.wait(lambda status: bool(status[family]["paths"] == count), f"{count} paths of {family}")
