"""The index of BGP routes next to bgpd (``bgp-index/``), over its socket."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from appliance.engine.backend import BackendUnavailable

NAME = "BGP index"
_ANSWER_S = 8.0
"""The time for a whole answer. The index itself waits 0.3 s for routes that are being read."""
_LONGEST_LINE_BYTES = 5 << 20
"""The index limits the rows of an answer to 4 MiB: neighbors choose how long their attributes are."""
_PIECE_BYTES = 1 << 16


class BgpIndexClient:
    """An index that answers at ``path``. Each question is a connection of its own; thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def status(self) -> Mapping[str, Any]:
        """Its status; this starts nothing. Raises BackendUnavailable."""
        return self._ask("status")

    def search(self, family: str, terms: Iterable[tuple[str, str]]) -> Mapping[str, Any]:
        """A page of the routes that match. Raises BackendUnavailable."""
        return self._ask(" ".join(["search", family, *(f"{key}={value}" for key, value in terms)]))

    def _ask(self, question: str) -> Mapping[str, Any]:
        try:
            told = json.loads(self._answer(question))
        except (OSError, ValueError) as error:
            raise BackendUnavailable(NAME, f"it does not answer at {self._path}: {error}") from error
        if not isinstance(told, dict) or "error" in told:
            said = told.get("error") if isinstance(told, dict) else told
            raise BackendUnavailable(NAME, f"it does not understand {question!r}: {said}")
        return told

    def _answer(self, question: str) -> bytes:
        """One line, within the time and size that an answer may have."""
        until = time.monotonic() + _ANSWER_S
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(_ANSWER_S)
            connection.connect(str(self._path))
            connection.sendall(f"{question}\n".encode())
            answer = bytearray()
            while not answer.endswith(b"\n"):
                connection.settimeout(max(until - time.monotonic(), 0.001))
                piece = connection.recv(_PIECE_BYTES)
                if not piece:
                    raise ConnectionError("it ended the connection")
                answer += piece
                if len(answer) > _LONGEST_LINE_BYTES:
                    raise ValueError("the answer is too long: ask for fewer routes (limit)")
        return bytes(answer)
