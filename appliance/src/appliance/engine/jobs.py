"""Results of commits by request id, on disk: a caller that lost the answer finds it here."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from pathlib import Path
from typing import Any

from appliance.engine import durable
from appliance.engine.records import CommitError, CommitResult
from appliance.errors import Conflict, NotFound, Problem, ValidationFailed

KEPT = 1000
"""Results that are kept; the oldest go first."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")


class Jobs:
    """One file for each request id."""

    def __init__(self, state_dir: Path) -> None:
        self._directory = state_dir / "jobs"
        durable.make_folder(self._directory, 0o700)
        self._lock = threading.Lock()
        self._since_pruned = 0

    def begin(self, request_id: str, fingerprint: str) -> CommitResult | None:
        """Register a request. Returns the result so far when the same request was made before.

        Raises Conflict when another request had this id, ValidationFailed when it is not an id.
        """
        path = self._path(request_id)
        with self._lock:
            try:
                known = json.loads(path.read_bytes())
            except FileNotFoundError:
                self._write(path, CommitResult(request_id, "running"), fingerprint)
                self._prune()
                return None
        if known["fingerprint"] != fingerprint:
            raise Conflict(f"request id {request_id} was used for another request")
        return CommitResult.from_json(known)

    def finish(self, result: CommitResult, fingerprint: str) -> None:
        """Record how a request ended."""
        self._write(self._path(result.request_id), result, fingerprint)

    def get(self, request_id: str) -> CommitResult:
        """What became of a request. Raises NotFound."""
        try:
            return CommitResult.from_json(json.loads(self._path(request_id).read_bytes()))
        except FileNotFoundError:
            raise NotFound(f"there is no commit with request id {request_id}") from None

    def settle(self, recorded: dict[str, int], reason: str) -> None:
        """At start: what was running has either made a revision (``recorded``) or failed for ``reason``."""
        for path in self._directory.glob("*.json"):
            data = json.loads(path.read_bytes())
            if data["state"] != "running":
                continue
            request_id = data["request_id"]
            if (revision := recorded.get(request_id)) is not None:
                result = CommitResult(request_id, "done", revision)
            else:
                result = CommitResult(request_id, "failed", error=CommitError("restart of the agent", reason))
            self._write(path, result, data["fingerprint"])

    def _path(self, request_id: str) -> Path:
        if not _REQUEST_ID.fullmatch(request_id):
            message = "is 1 to 128 letters, digits and _ . : - and begins with a letter or digit"
            raise ValidationFailed([Problem("/request_id", message)])
        return self._directory / f"{request_id}.json"

    def _write(self, path: Path, result: CommitResult, fingerprint: str) -> None:
        durable.write_json(path, {**result.to_json(), "fingerprint": fingerprint})

    def _prune(self) -> None:
        self._since_pruned += 1
        if self._since_pruned < KEPT // 10:
            return
        self._since_pruned = 0
        oldest_first = sorted(self._directory.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in oldest_first[:-KEPT]:
            path.unlink(missing_ok=True)


def fingerprint(*parts: Any) -> str:
    """Tells two requests apart without keeping what they held."""
    try:
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    except RecursionError:
        raise ValidationFailed([Problem("/document", "nests too deep to be a document")]) from None
