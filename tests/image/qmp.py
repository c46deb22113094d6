"""QEMU's machine protocol, as far as the tests speak it."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from types import TracebackType
from typing import Any


class QmpError(Exception):
    """QEMU refused a command."""


class Qmp:
    """One connection to a QMP socket; usable once the greeting was read and answered."""

    def __init__(self, path: Path, timeout_s: float = 60.0) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(timeout_s)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("r")
        json.loads(self._lines.readline())
        self.execute("qmp_capabilities")

    def __enter__(self) -> Qmp:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()
        self._socket.close()

    def execute(self, command: str, **arguments: Any) -> Any:
        """Run a command and give its answer; events in between are passed over. QmpError when refused."""
        message = {"execute": command, **({"arguments": arguments} if arguments else {})}
        self._socket.sendall(json.dumps(message).encode() + b"\n")
        for line in self._lines:
            answer = json.loads(line)
            if "error" in answer:
                raise QmpError(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise QmpError(f"{command}: QEMU closed the connection")
