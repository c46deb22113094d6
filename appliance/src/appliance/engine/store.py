"""Revisions on disk: one small file each, which refers to objects by content.

::

    revisions/00000042.json      author, comment, time, digests; and a digest of itself
    revisions/last               the highest number ever given, so that it is not given again
    objects/                     documents (sealed, canonical), plans with their diffs; see ``objects``

Everything is verified when read: a truncated, altered or lost file costs its own revision and no other.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import logging
import threading
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from appliance.config.document import SCHEMA_VERSION
from appliance.config.dump import digest
from appliance.engine import durable
from appliance.engine.known_fields import known_fields
from appliance.engine.objects import Damaged, Objects, make_own_folder
from appliance.engine.records import Revision, timestamp
from appliance.engine.retention import Entry, Retention
from appliance.errors import MillraceError, NotFound

log = logging.getLogger(__name__)
T = TypeVar("T")

EMPTY_DOCUMENT: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
"""What a router runs that was never configured: revision 0, which has no file."""
_SUM, _MARK = "sum", "mark"
_PRUNE_EVERY = 50
"""How many revisions are recorded between two searches for revisions to forget."""
_BLOCK_BYTES = 4096
"""Space that a small file takes."""
_REMEMBERED = 1000
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)


class _Parts(NamedTuple):
    """The objects a revision refers to, and when it was recorded."""

    document: str
    details: str
    time_s: float


class RevisionStore:
    """The revisions of one router. One writer; readers in any thread."""

    def __init__(self, state_dir: Path, retention: Retention | None = None) -> None:
        self._revisions = state_dir / "revisions"
        make_own_folder(self._revisions)
        self._objects = Objects(state_dir / "objects")
        self.retention = retention or Retention()
        self._lock = threading.RLock()
        self._known: dict[int, Revision] = {}
        self._parts: dict[int, _Parts] | None = None
        self._fresh: set[str] = set()
        """Objects of a revision that is not recorded yet."""
        self.damage: dict[int, str] = {}
        """Known damage, by revision; found when something is read."""
        found = {int(path.stem) for path in self._revisions.glob("[0-9]*.json") if path.stem.isdecimal()}
        self._head = max(found | {self._last()}, default=0)
        # The newest revisions are all kept: a gap there is a loss.
        first = max(min(found, default=self._head), self._head - self.retention.newest + 1, 1)
        for lost in set(range(first, self._head + 1)) - found:
            self.damage[lost] = "its record is missing"
        self._numbers = sorted(found | set(self.damage))
        self._since_pruned = _PRUNE_EVERY

    @property
    def head(self) -> int:
        """The highest number ever given to a revision, readable or not; 0 when there is none."""
        return self._head

    @property
    def usage(self) -> dict[str, int]:
        """The number of ``revisions``, the ``oldest``, ``used_bytes`` on disk and the ``quota_bytes``."""
        with self._lock:
            files = len(self._numbers) * _BLOCK_BYTES
            return {
                "revisions": len(self._numbers),
                "oldest": self._numbers[0] if self._numbers else 0,
                "used_bytes": self._objects.used_bytes + files,
                "quota_bytes": self.retention.used_bytes,
            }

    def get(self, number: int) -> Revision:
        """One revision. Raises NotFound, also for 0, and Damaged."""
        with self._lock:
            if (known := self._known.get(number)) is not None:
                return known
            if number not in self.damage and not self._has(number):
                was = f"; the oldest are forgotten to make room, {self._numbers[0]} is the first" if (
                    0 < number < self._head and self._numbers
                ) else ""  # fmt: skip
                raise NotFound(f"there is no revision {number}{was}")
            try:
                revision = self._read(number)
            except FileNotFoundError:
                raise self._damaged(number, "its record is missing") from None
            except _UNREADABLE as error:
                raise self._damaged(number, f"its record cannot be read: {error}") from None
            self._remember(revision)
            return revision

    def newest(self, limit: int, before: int | None = None) -> list[Revision]:
        """At most ``limit`` revisions below ``before``, newest first. Reads no document.

        A revision known to be damaged has ``result`` ``damaged``, and as much of the rest as can be read.
        """
        with self._lock:
            end = len(self._numbers) if before is None else bisect.bisect_left(self._numbers, before)
            numbers = self._numbers[max(0, end - limit) : end]
        return [self._listed(number) for number in reversed(numbers)]

    def document(self, number: int) -> dict[str, Any]:
        """The sealed document of a revision. Raises NotFound, Damaged."""
        if number == 0:
            return dict(EMPTY_DOCUMENT)
        name = self.get(number).digest
        try:
            document: dict[str, Any] = json.loads(self._objects.read(name, _document_digest))
        except Damaged as error:
            raise self._damaged(number, f"its document is lost: {error}") from None
        return document

    def newest_whole(
        self,
        read: Callable[[dict[str, Any], str], T],
        at_most: int | None = None,
        confirmed: Callable[[int], bool] = lambda _number: True,
    ) -> tuple[int, T]:
        """The newest revision whose document can be read, and what ``read`` makes of it and its digest.

        A revision that a damaged rollback had taken back comes after all others: a user, or the timer,
        rejected it. ``confirmed`` tells whether a revision with a timer was confirmed. Returns 0, the empty
        revision, if none can be read. The unreadable ones are in ``damage`` afterwards.
        """
        numbers = [number for number in reversed(self._numbers) if at_most is None or number <= at_most]
        unwanted: list[int] = []
        wanted_from = self._head + 1
        for number in numbers:
            if number >= wanted_from:
                unwanted.append(number)
            elif (found := self._whole(number, read)) is not None:
                return number, found
            else:
                wanted_from = self._taken_back_from(number, numbers, confirmed)
        for number in unwanted:
            if (found := self._whole(number, read)) is not None:
                return number, found
        return 0, read(dict(EMPTY_DOCUMENT), digest(EMPTY_DOCUMENT))

    def _whole(self, number: int, read: Callable[[dict[str, Any], str], T]) -> T | None:
        try:
            return read(self.document(number), self.get(number).digest)
        except Damaged as error:
            log.error("%s", error)
        except MillraceError as error:
            self.damage[number] = f"this release cannot read its document: {error}"
            log.error("revision %s: %s", number, self.damage[number])
        return None

    def _taken_back_from(self, lost: int, numbers: list[int], confirmed: Callable[[int], bool]) -> int:
        """The lowest number that ``lost`` took back, if it is a rollback; else ``lost`` itself.

        If its record is lost too, only the known timer of the one before tells.
        """
        older = numbers[numbers.index(lost) + 1 :]
        digest_of_lost = self._digest(lost)
        if digest_of_lost is not None:
            same = next((number for number in older if self._digest(number) == digest_of_lost), None)
            return lost if same is None else same + 1
        before = older[0] if older else 0
        try:
            timed = bool(before) and self.get(before).confirm_s is not None
        except MillraceError:
            return lost
        return before if timed and not confirmed(before) and not confirmed(lost) else lost

    def _digest(self, number: int) -> str | None:
        try:
            return self.get(number).digest
        except MillraceError:
            return None

    def check_newest(self, count: int = 20) -> None:
        """Read the newest documents, and note any damage in ``damage``."""
        for number in self._numbers[-count:]:
            try:
                self.document(number)
            except NotFound as error:
                log.error("%s", error)

    def details(self, number: int) -> dict[str, Any]:
        """``plan`` and ``diff`` of a revision. Raises NotFound, Damaged."""
        try:
            details: dict[str, Any] = json.loads(self._objects.read(self.get(number).details, _text_digest))
        except Damaged as error:
            if number in self.damage:
                raise
            raise Damaged(f"plan and diff of revision {number} are lost: {error}") from None
        return details

    def append(self, revision: Revision, document: Mapping[str, Any], mark: str = "") -> None:
        """Record the next revision. Its ``details`` are in the store already (see ``put``).

        The revision exists from the rename of its own file on; on OSError it does not exist. The objects it
        refers to are on disk before. ``mark`` is that of the request that made it.
        """
        if revision.revision != self._head + 1:
            raise ValueError(f"revision {revision.revision} does not follow {self._head}")
        with self._lock:
            self.put_document(revision.digest, document)
            self._objects.sync()
            path = self._path(revision.revision)
            recorded = {**revision.to_json(), **({_MARK: mark} if mark else {})}
            try:
                durable.write_json(path, {**recorded, _SUM: _sum(recorded)})
            except OSError:
                path.unlink(missing_ok=True)
                raise
            self._remember(revision)
            if self._parts is not None:
                self._parts[revision.revision] = _parts_of(revision)
            self._head = revision.revision
            self._numbers.append(revision.revision)
            self._fresh.clear()
            self._since_pruned += 1

    def put(self, value: Any) -> str:
        """Store ``value`` by its content; returns its SHA-256. It survives a power cut after ``sync``."""
        text = json.dumps(value, separators=(",", ":"))
        name = _text_digest(text)
        with self._lock:
            self._fresh.add(name)
            self._objects.write(name, text, _text_digest)
        return name

    def put_document(self, name: str, document: Mapping[str, Any]) -> None:
        """The same for a document, whose digest is known."""
        with self._lock:
            self._fresh.add(name)
            if not self._objects.is_sound(name):
                text = json.dumps(document, separators=(",", ":"))
                self._objects.write(name, text, _document_digest, alike=True)

    def sync(self) -> None:
        """Wait until what was put survives a power cut; otherwise ``append`` does so. Raises OSError."""
        self._objects.sync()

    def mark(self, revision: Revision) -> str:
        """The mark of the request that made it; empty when that is not known."""
        try:
            return str(json.loads(self._path(revision.revision).read_bytes()).get(_MARK, ""))
        except _UNREADABLE:
            return ""

    def prune(self, needed: Collection[int]) -> None:
        """From time to time, forget what need not be kept; ``needed`` and the head stay. Raises OSError.

        Call it outside commits: the first call reads the record of every revision.
        """
        if self._since_pruned < _PRUNE_EVERY:
            return
        self._since_pruned = 0
        read = {} if self._parts is not None else self._read_parts()
        with self._lock:
            parts = self._parts = self._parts if self._parts is not None else read
            parts |= {number: _parts_of(self._known[number]) for number in self._known if number not in parts}
            entries = [
                Entry(number, found.time_s, _BLOCK_BYTES + self._used_by(found))
                for number in self._numbers
                if (found := parts.get(number)) is not None
            ]
            keep = {*needed, self._head}
            for number in self.retention.forgotten(entries, self.usage["used_bytes"], keep):
                self._forget(number)
            oldest = min(parts, default=0)
            for number in [number for number in self.damage if number < oldest]:
                self._forget(number)
            self._numbers = sorted(parts.keys() | self.damage.keys())
            wanted = {name for found in parts.values() for name in (found.document, found.details)}
            self._objects.forget_all_but(wanted | self._fresh)

    def _forget(self, number: int) -> None:
        self._path(number).unlink(missing_ok=True)
        for known in (self._known, self._parts, self.damage):
            if known is not None:
                known.pop(number, None)

    def _read_parts(self) -> dict[int, _Parts]:
        """The objects that each readable revision refers to."""
        parts = {}
        for number in list(self._numbers):
            try:
                parts[number] = _parts_of(self._read(number))
            except _UNREADABLE:
                continue
        return parts

    def _used_by(self, found: _Parts) -> int:
        return self._objects.used_by(found.document) + self._objects.used_by(found.details)

    def _listed(self, number: int) -> Revision:
        try:
            revision = self.get(number)
        except Damaged:
            return Revision(
                number, "", "unknown", f"damaged: {self.damage[number]}", self._recorded_at(number), "none",
                0, "damaged", 0, "", None, "",
            )  # fmt: skip
        if (problem := self.damage.get(number)) is None:
            return revision
        words = {**revision.to_json(), "comment": f"damaged: {problem}", "result": "damaged"}
        return Revision(**words)

    def _recorded_at(self, number: int) -> str:
        """When its file was written; the epoch if it has no file."""
        try:
            return timestamp(self._path(number).stat().st_mtime)
        except OSError:
            return timestamp(0)

    def _damaged(self, number: int, problem: str) -> Damaged:
        self.damage[number] = problem
        return Damaged(
            f"revision {number} is damaged and cannot be used: {problem}. Other revisions are not affected"
        )

    def _has(self, number: int) -> bool:
        index = bisect.bisect_left(self._numbers, number)
        return index < len(self._numbers) and self._numbers[index] == number

    def _read(self, number: int) -> Revision:
        data = json.loads(self._path(number).read_bytes())
        expected = data.pop(_SUM, None)
        # Earlier releases wrote none.
        if expected is not None and expected != _sum(data):
            raise ValueError("it was altered")
        revision = Revision(**known_fields(Revision, data))
        if revision.revision != number or not all(
            isinstance(text, str) for text in (revision.digest, revision.details, revision.time)
        ):
            raise ValueError("it belongs to another revision")
        return revision

    def _remember(self, revision: Revision) -> None:
        self._known[revision.revision] = revision
        while len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]

    def _last(self) -> int:
        """The number in the mark; 0 if no mark can be read: then the files themselves tell."""
        try:
            return max(0, int((self._revisions / "last").read_bytes()[:12]))
        except (OSError, ValueError):
            return 0

    def note_head(self) -> None:
        """Write down the number of the head, needed only if the newest record is lost: a commit neither waits
        for it nor fails by it."""
        try:
            durable.write_whole(self._revisions / "last", f"{self._head}\n".encode())
        except OSError as error:
            log.warning("the number of the last revision is not noted: %s", error)

    def _path(self, number: int) -> Path:
        return self._revisions / f"{number:08d}.json"


def _parts_of(revision: Revision) -> _Parts:
    """Raises ValueError if its time is invalid."""
    return _Parts(revision.digest, revision.details, datetime.fromisoformat(revision.time).timestamp())


def _document_digest(text: str) -> str:
    return digest(json.loads(text))


def _text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _sum(recorded: Mapping[str, Any]) -> str:
    return _text_digest(json.dumps(recorded, sort_keys=True))
