"""Revisions on disk: one small file each, and what it refers to by content.

::

    revisions/00000042.json      author, comment, time, digests
    objects/<sha256>.json        documents (sealed, canonical), plans with their diffs
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from appliance.config.document import SCHEMA_VERSION
from appliance.config.dump import digest
from appliance.engine import durable
from appliance.engine.known_fields import known_fields
from appliance.engine.records import Revision
from appliance.errors import NotFound

EMPTY_DOCUMENT: dict[str, Any] = {"schema_version": SCHEMA_VERSION}
"""What a router runs that was never told anything: revision 0, which has no file."""


class RevisionStore:
    """The revisions of one router. One writer; readers need no lock, a file is whole or not there."""

    def __init__(self, state_dir: Path) -> None:
        self._revisions = state_dir / "revisions"
        self._objects = state_dir / "objects"
        for directory in (self._revisions, self._objects):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._known: dict[int, Revision] = {}
        self._head = max((int(path.stem) for path in self._revisions.glob("[0-9]*.json")), default=0)

    @property
    def head(self) -> int:
        """Number of the last recorded revision; 0 when there is none."""
        return self._head

    def get(self, number: int) -> Revision:
        """One revision. Raises NotFound, also for 0."""
        if (known := self._known.get(number)) is not None:
            return known
        try:
            data = json.loads(self._path(number).read_bytes())
        except FileNotFoundError:
            raise NotFound(f"there is no revision {number}") from None
        self._known[number] = revision = Revision(**known_fields(Revision, data))
        return revision

    def newest(self, limit: int, before: int | None = None) -> list[Revision]:
        """At most ``limit`` revisions below ``before``, newest first. Reads no document."""
        top = self._head if before is None else min(before - 1, self._head)
        return [self.get(number) for number in range(top, max(top - limit, 0), -1)]

    def document(self, number: int) -> dict[str, Any]:
        """The sealed document of a revision. Raises NotFound."""
        if number == 0:
            return dict(EMPTY_DOCUMENT)
        return self._object(self.get(number).digest)

    def digest(self, number: int) -> str:
        """Digest of a revision's document."""
        return digest(EMPTY_DOCUMENT) if number == 0 else self.get(number).digest

    def details(self, number: int) -> dict[str, Any]:
        """``plan`` and ``diff`` of a revision. Raises NotFound."""
        return self._object(self.get(number).details)

    def append(self, revision: Revision, document: Mapping[str, Any]) -> None:
        """Record the next revision. Its ``details`` are in the store already (see ``put``).

        The rename of the revision's own file is the moment it exists; on OSError it does not.
        """
        if revision.revision != self._head + 1:
            raise ValueError(f"revision {revision.revision} does not follow {self._head}")
        self._write_object(revision.digest, json.dumps(document, separators=(",", ":")).encode())
        path = self._path(revision.revision)
        try:
            durable.write_json(path, revision.to_json())
        except OSError:
            path.unlink(missing_ok=True)
            raise
        self._known[revision.revision] = revision
        self._head = revision.revision

    def put(self, value: Any) -> str:
        """Store ``value`` by its content; returns its SHA-256."""
        data = json.dumps(value, separators=(",", ":")).encode()
        name = hashlib.sha256(data).hexdigest()
        self._write_object(name, data)
        return name

    def _write_object(self, name: str, data: bytes) -> None:
        path = self._objects / f"{name}.json"
        if not path.exists():
            durable.write(path, data)

    def _object(self, name: str) -> dict[str, Any]:
        try:
            value: dict[str, Any] = json.loads((self._objects / f"{name}.json").read_bytes())
        except FileNotFoundError:
            raise NotFound(f"the store has lost the object {name}") from None
        return value

    def _path(self, number: int) -> Path:
        return self._revisions / f"{number:08d}.json"
