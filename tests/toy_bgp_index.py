"""An index of BGP routes whose state and routes a test sets; it speaks as the program does."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HOSTILE = "<script>alert(1)</script>\x1b[2J"
STATUS: dict[str, Any] = {
    "state": "idle", "why": None, "since_s": 12.5, "idle_s": None,
    "ipv4": {"routes": 0, "paths": 0}, "ipv6": {"routes": 0, "paths": 0},
    "attributes": 0, "memory_bytes": 4096, "truncated": False, "neighbors": [],
}  # fmt: skip
READY: dict[str, Any] = {
    **STATUS, "state": "ready", "idle_s": 900,
    "ipv4": {"routes": 1000, "paths": 1000}, "ipv6": {"routes": 50, "paths": 50},
    "attributes": 40, "memory_bytes": 1 << 20,
    "neighbors": [{"address": "192.0.2.1", "as": 65001, "up": True, "ipv4": 1000, "ipv6": 50}],
}  # fmt: skip


def row(number: int, **other: Any) -> dict[str, Any]:
    """A route of its own prefix, with what every route has."""
    return {
        "prefix": f"198.18.{number}.0/24",
        "neighbor": "192.0.2.1",
        "neighbor_as": 65001,
        "as_path": f"65001 {64500 + number}",
        "origin": "igp",
        "next_hop": "192.0.2.1",
        "communities": [f"65001:{number}"],
        "large_communities": [],
        "extended_communities": [],
        "received_s": 61.5,
        **other,
    }


class ToyBgpIndex:
    """Answers on a Unix socket; whatever is asked for, all of ``rows`` match."""

    def __init__(self, path: Path) -> None:
        self.status: dict[str, Any] = STATUS
        self.rows: list[dict[str, Any]] = []
        self.total: int | None = None
        """What it counts as matching, where that is not all of its rows."""
        self.shortened = False
        self.other: Any = None
        """Where given, the answer to everything."""
        self.asked: list[str] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as lines:
                self.asked.append(lines.readline().decode().strip())
                with suppress(BrokenPipeError):
                    connection.sendall(json.dumps(self._answer(self.asked[-1])).encode() + b"\n")

    def _answer(self, question: str) -> Any:
        if self.other is not None:
            return self.other
        if question == "status":
            return self.status
        terms = dict(word.partition("=")[::2] for word in question.split()[2:])
        offset, limit = int(terms["offset"]), int(terms["limit"])
        state = self.status["state"]
        return {
            "state": state,
            "why": self.status["why"],
            "truncated": self.status["truncated"],
            "read": self.status["ipv4"]["paths"] + self.status["ipv6"]["paths"],
            "matching": len(self.rows) if self.total is None else self.total,
            "complete": state == "ready" and not self.status["truncated"],
            "rows": self.rows[offset : offset + limit],
            **({"shortened": True} if self.shortened else {}),
        }
