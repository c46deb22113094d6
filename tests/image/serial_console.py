"""A machine's serial port: everything it ever wrote, and a keyboard."""

from __future__ import annotations

import re
import socket
import threading
from pathlib import Path

from tests.image.patience import wait_for

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78cM])")


class SerialConsole:
    """QEMU writes the log itself, so that nothing is lost while nobody reads; the socket is for typing."""

    def __init__(self, path: Path, log: Path) -> None:
        self.path = path
        self.log = log
        self._socket: socket.socket | None = None

    def chardev(self, name: str) -> str:
        """QEMU's argument for this port."""
        return f"socket,id={name},path={self.path},server=on,wait=off,logfile={self.log},logappend=on"

    def connect(self) -> None:
        """Plug the keyboard in; QEMU has to run."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(self.path))
        # A guest whose output nobody takes would stall.
        threading.Thread(target=_drain, args=(self._socket,), daemon=True).start()

    def close(self) -> None:
        """Pull it out."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def text(self) -> str:
        """All that was written since the machine was made, without escape sequences."""
        if not self.log.exists():
            return ""
        return _ESCAPES.sub("", self.log.read_text(errors="replace")).replace("\r", "")

    def tail(self, lines: int = 40) -> str:
        """The last lines."""
        return "\n".join(self.text().splitlines()[-lines:])

    def type(self, keys: str) -> None:
        """Type."""
        assert self._socket is not None, "the machine does not run"
        self._socket.sendall(keys.encode())

    def wait_for(self, pattern: str, *, timeout_s: float, after: int = 0) -> re.Match[str]:
        """The first match in what was written from character `after` on, waiting for it."""
        expression = re.compile(pattern)
        try:
            return wait_for(
                lambda: expression.search(self.text(), after),
                timeout_s=timeout_s,
                what=f"{pattern!r} on the serial console",
            )
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.tail()}") from None


def _drain(connection: socket.socket) -> None:
    try:
        while connection.recv(65536):
            pass
    except OSError:
        return  # closed by `close`
