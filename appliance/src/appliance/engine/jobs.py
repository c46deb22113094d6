"""Results of commits by request id, on disk, for a caller that lost the answer.

No commit waits for the disk here. When a power cut loses a result, the revision or the journal tells the
outcome (``settle``); a request that has neither changed nothing.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from appliance.engine import durable
from appliance.engine.objects import Damaged, make_own_folder
from appliance.engine.records import CommitError, CommitResult
from appliance.errors import Conflict, NotFound, Problem, ValidationFailed

KEPT = 1000
"""How many results are kept; the oldest are removed first."""
KEPT_BYTES = 16 << 20
"""Space for results: that of a large commit names thousands of steps."""
_RUNNING_BYTES = 4096
"""The size of a result that is still ``running``: it names no steps yet."""
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
_PRUNE_EVERY = 50
log = logging.getLogger(__name__)
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")


class Recorded(NamedTuple):
    """The revision that a request made, and the request's fingerprint; empty when that is not known."""

    revision: int
    mark: str


class Jobs:
    """One file for each request id."""

    def __init__(self, state_dir: Path) -> None:
        self._directory = state_dir / "jobs"
        make_own_folder(self._directory)
        self._lock = threading.Lock()
        self._since_pruned = _PRUNE_EVERY
        self._unwritten: dict[str, tuple[CommitResult, str]] = {}
        """Results that are not on disk yet, where they still say ``running``: those being written, and those
        that the disk could not take."""
        self._writing = threading.Lock()
        """Held by who writes one of them: two writers of a file would take it from each other."""
        self._count = self._used_bytes = 0

    def seen(self, request_id: str, fingerprint: Callable[[], str]) -> CommitResult | None:
        """The result so far of the same request; None if no request had this id. Raises as ``begin``.

        The fingerprint is computed only when there is something to compare it with.
        """
        with self._lock:
            is_known = request_id in self._unwritten or self._path(request_id).exists()
            return self._seen(request_id, fingerprint()) if is_known else None

    def begin(self, request_id: str, fingerprint: str) -> CommitResult | None:
        """Register a request. Returns the result so far when the same request was made before.

        Raises Conflict when another request had this id, ValidationFailed when it is not an id.
        """
        path = self._path(request_id)
        with self._lock:
            self._write_settled()
            known = self._seen(request_id, fingerprint)
            if known is None:
                self._write(path, CommitResult(request_id, "running"), fingerprint)
                self._prune()
        return known

    def _seen(self, request_id: str, fingerprint: str) -> CommitResult | None:
        path = self._path(request_id)
        try:
            known, mark = self._unwritten.get(request_id) or _read(path)
        except FileNotFoundError:
            return None
        except _UNREADABLE as error:
            raise Conflict(
                f"the result of request {request_id} is damaged ({error}): whether it was done is in the "
                "list of revisions; ask again with another id if it was not"
            ) from None
        if mark != fingerprint:
            raise Conflict(f"request id {request_id} was used for another request")
        return known

    def finish(self, result: CommitResult, fingerprint: str) -> None:
        """Record how a request ended."""
        self._write(self._path(result.request_id), result, fingerprint)

    def finish_soon(self, result: CommitResult, fingerprint: str, disk: Executor) -> None:
        """The same of a request that made a revision, in a thread of ``disk``; it counts from now on.

        If the agent dies before it is written, or the disk is full, the revision tells the outcome: see
        ``settle``.
        """
        self._unwritten[result.request_id] = result, fingerprint

        def write() -> None:
            with self._writing:
                self._write_one(result.request_id)

        disk.submit(write)

    def get(self, request_id: str) -> CommitResult:
        """The outcome of a request. Raises NotFound."""
        try:
            return (self._unwritten.get(request_id) or _read(self._path(request_id)))[0]
        except FileNotFoundError:
            raise NotFound(f"there is no commit with request id {request_id}") from None
        except _UNREADABLE as error:
            raise Damaged(
                f"the result of commit {request_id} is damaged ({error}); the list of revisions tells "
                "whether it was done"
            ) from None

    def settle(self, recorded: Mapping[str, Recorded], open_marks: Mapping[str, str], reason: str) -> None:
        """At start: a request that was running has made a revision (``recorded``), or failed for ``reason``.

        The same holds for requests whose result a power cut lost: those that made a revision, and those of
        ``open_marks``, whose transaction was open. A full disk stops nothing: the results are returned all
        the same, and written later.
        """
        known_marks = {**open_marks, **{request_id: made.mark for request_id, made in recorded.items()}}
        lost = {name: mark for name, mark in known_marks.items() if mark and _REQUEST_ID.fullmatch(name)}
        for path in self._directory.glob("*.json"):
            try:
                if path.stat().st_size > _RUNNING_BYTES:
                    lost.pop(path.stem, None)
                    continue
                known, mark = _read(path)
            except _UNREADABLE as problem:
                if path.stem not in lost:
                    log.error("the result of commit %s is damaged: %s", path.stem, problem)
                continue
            lost.pop(path.stem, None)
            if known.state == "running":
                self._unwritten[known.request_id] = _ended(known.request_id, recorded, reason), mark
        self._unwritten |= {name: (_ended(name, recorded, reason), mark) for name, mark in lost.items()}
        self._write_settled()

    def _write_settled(self) -> None:
        if not self._writing.acquire(blocking=False):
            return
        try:
            all(self._write_one(request_id) for request_id in list(self._unwritten))
        finally:
            self._writing.release()

    def _write_one(self, request_id: str) -> bool:
        """False if the disk does not take it. The caller holds ``_writing``."""
        if (found := self._unwritten.get(request_id)) is None:
            return True
        result, mark = found
        try:
            self._write(self._path(request_id), result, mark)
        except OSError as error:
            log.warning("the result of commit %s cannot be written yet: %s", request_id, error)
            return False
        self._unwritten.pop(request_id, None)
        return True

    @property
    def usage(self) -> dict[str, int]:
        """The number of ``results``, ``used_bytes`` on disk and ``quota_bytes``, as of a moment ago."""
        return {"results": self._count, "used_bytes": self._used_bytes, "quota_bytes": KEPT_BYTES}

    def _path(self, request_id: str) -> Path:
        if not _REQUEST_ID.fullmatch(request_id):
            message = "is 1 to 128 letters, digits and _ . : - and begins with a letter or digit"
            raise ValidationFailed([Problem("/request_id", message)])
        return self._directory / f"{request_id}.json"

    def _write(self, path: Path, result: CommitResult, fingerprint: str) -> None:
        durable.write_whole(path, durable.compact({**result.to_json(), "fingerprint": fingerprint}))

    def _prune(self) -> None:
        self._since_pruned += 1
        if self._since_pruned < _PRUNE_EVERY:
            return
        self._since_pruned = 0
        found = [(path.lstat(), path) for path in self._directory.glob("*.json")]
        oldest_first = sorted(found, key=lambda entry: entry[0].st_mtime)
        self._count, self._used_bytes = len(found), sum(_room(entry) for entry, _ in found)
        # The last one belongs to the request that begins now.
        for entry, path in oldest_first[:-1]:
            if self._count <= KEPT and self._used_bytes <= KEPT_BYTES:
                break
            with suppress(OSError):
                path.unlink()
            self._count -= 1
            self._used_bytes -= _room(entry)


def _ended(request_id: str, recorded: Mapping[str, Recorded], reason: str) -> CommitResult:
    """The result of a request whose agent was stopped."""
    if (made := recorded.get(request_id)) is not None:
        return CommitResult(request_id, "done", made.revision)
    return CommitResult(request_id, "failed", error=CommitError("restart of the agent", reason))


def _read(path: Path) -> tuple[CommitResult, str]:
    """A result and the fingerprint of its request. Raises one of ``_UNREADABLE``."""
    data = json.loads(path.read_bytes())
    return CommitResult.from_json(data), str(data["fingerprint"])


def _room(found: os.stat_result) -> int:
    return found.st_blocks * 512


def fingerprint(*parts: Any) -> str:
    """Distinguishes two requests without keeping their contents."""
    try:
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    except RecursionError:
        raise ValidationFailed([Problem("/document", "nests too deep to be a document")]) from None
