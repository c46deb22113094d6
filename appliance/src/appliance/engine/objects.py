"""Texts on disk, addressed by their content: compressed, and stored as deltas where they are alike.

::

    objects/<digest>.z               whole, zlib
    objects/<digest>.copy            the same again, of one that others are deltas to
    objects/<digest>.<base>.d        delta to the text <base>, zlib
    objects/<digest>.json            whole and plain, as earlier releases wrote it

A delta depends on one whole text and never on another delta, and that text is kept twice: damage costs only
the text it is in. Every text read is compared with its digest.
"""

from __future__ import annotations

import json
import logging
import threading
import zlib
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from appliance.engine import deltas, durable
from appliance.errors import NotFound

log = logging.getLogger(__name__)

Digest = Callable[[str], str]
"""Name of a text by its content. May raise ValueError, TypeError or RecursionError for other texts."""

MAX_TEXT_BYTES = 256 << 20
"""No text is longer: one that unpacks to more is damaged."""
_SMALL_BYTES = 4096
"""A packed text of one disk block gains nothing as a delta."""
_DELTAS = 64
"""How many deltas refer to one whole text; then the next text is stored whole."""
_WORTH = 4
"""A delta is at most a fourth of the whole text."""
_BLOCK_BYTES = 512
"""Of ``st_blocks`` (stat(2))."""
_REMEMBERED = 1000


class Damaged(NotFound):
    """Something that was stored cannot be read any more; the text says what, and what to do."""


class _File(NamedTuple):
    """One file of the folder, by its name."""

    path: Path
    base: str | None
    """Digest of the base text of this delta."""
    used_bytes: int


@dataclass
class _Whole:
    """The whole text that is the base of new deltas."""

    name: str
    pieces: list[str]
    places: dict[str, int]
    packed_bytes: int
    deltas: int = 0


class Objects:
    """The texts of one folder. Safe from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        make_own_folder(folder)
        self._lock = threading.RLock()
        self._whole: _Whole | None = None
        self._sound: dict[str, None] = {}
        """The most recent texts written or verified since the start."""
        self._files: dict[str, list[_File]] = {}
        self._unsynced: dict[Path, str] = {}
        """Files that a power cut may lose, and the names of their texts."""
        self._used_bytes = 0
        for path in folder.iterdir():
            self._remember(path)

    @property
    def used_bytes(self) -> int:
        """Space taken on the disk."""
        return self._used_bytes

    def used_by(self, name: str) -> int:
        """Space that one text takes."""
        with self._lock:
            return sum(file.used_bytes for file in self._files.get(name, ()))

    def read(self, name: str, digest: Digest) -> str:
        """The text of this digest. Raises Damaged."""
        with self._lock:
            text, problem = self._first_sound(name, digest)
        if text is None:
            raise Damaged(problem)
        return text

    def write(self, name: str, text: str, digest: Digest, *, alike: bool = False) -> None:
        """Store a text; it is durable after ``sync``. Raises OSError.

        ``alike``: it mostly resembles the last text stored with ``alike``. A text that is stored and whole is
        left alone.
        """
        with self._lock:
            if name in self._sound:
                return
            if self._first_sound(name, digest)[0] is not None:
                # From an agent that may have died before it was durable.
                self._sync_later(name)
                return
            # The existing file of this name is damaged, and would otherwise be found before the new one.
            self._forget(name)
            packed = zlib.compress(text.encode())
            if not alike or len(packed) <= _SMALL_BYTES:
                self._put(f"{name}.z", packed)
            elif (delta := self._delta(text, len(packed))) is not None and self._whole is not None:
                self._put(f"{name}.{self._whole.name}.d", delta)
                self._whole.deltas += 1
            else:
                self._put(f"{name}.copy", packed)
                self._put(f"{name}.z", packed)
                parts = deltas.pieces(text)
                self._whole = _Whole(name, parts, deltas.places(parts), len(packed))
            self._is_sound(name)

    def is_sound(self, name: str) -> bool:
        """Whether the text is known to be stored and whole; nothing is read."""
        with self._lock:
            return name in self._sound

    def sync(self) -> None:
        """Wait until everything written is durable. On OSError none of it counts as stored."""
        with self._lock:
            written, self._unsynced = self._unsynced, {}
            try:
                durable.sync(written)
            except BaseException:
                for name in written.values():
                    self._sound.pop(name, None)
                # Deltas must not depend on a text that may be lost.
                self._whole = None
                raise

    def _sync_later(self, name: str) -> None:
        for file in self._files.get(name, ()):
            self._unsynced[file.path] = name
            if file.base is not None and file.base != name:
                self._sync_later(file.base)

    def forget_all_but(self, wanted: Collection[str]) -> None:
        """Remove texts that are neither wanted nor the base of a wanted delta. Raises OSError."""
        with self._lock:
            kept = set(wanted)
            kept |= {file.base for name in wanted for file in self._files.get(name, ()) if file.base}
            if self._whole is not None:
                kept.add(self._whole.name)
            for name in [name for name in self._files if name not in kept]:
                self._forget(name)

    def _forget(self, name: str) -> None:
        for file in self._files.pop(name, ()):
            file.path.unlink(missing_ok=True)
            self._unsynced.pop(file.path, None)
            self._used_bytes -= file.used_bytes
        self._sound.pop(name, None)

    def _delta(self, text: str, packed_bytes: int) -> bytes | None:
        whole = self._whole
        if whole is None or whole.deltas >= _DELTAS:
            return None
        operations = deltas.difference(whole.pieces, whole.places, text)
        delta = zlib.compress(json.dumps(operations, separators=(",", ":")).encode())
        return delta if len(delta) * _WORTH <= packed_bytes else None

    def _first_sound(self, name: str, digest: Digest) -> tuple[str | None, str]:
        """The text, or None and a description of the damage."""
        problem = "its file is missing"
        for file in sorted(self._files.get(name, ()), key=lambda file: file.path.suffix == ".copy"):
            try:
                text = self._text(file, digest)
                if digest(text) == name:
                    if problem.startswith(file.path.name[:8]):
                        log.error("%s; the copy of it is used", problem)
                    self._is_sound(name)
                    return text, ""
                problem = f"{file.path.name[:8]}…{file.path.suffix} was altered: it does not match its digest"
            except (OSError, ValueError, TypeError, KeyError, RecursionError, zlib.error, Damaged) as error:
                problem = f"{file.path.name[:8]}…{file.path.suffix} cannot be read: {error}"
        return None, problem

    def _text(self, file: _File, digest: Digest) -> str:
        if file.path.suffix == ".json":
            return file.path.read_text("utf-8")
        text = _unpacked(file.path.read_bytes())
        if file.base is None:
            return text
        return deltas.restored(deltas.pieces(self._base(file.base, digest)), json.loads(text))

    def _base(self, name: str, digest: Digest) -> str:
        if self._whole is not None and self._whole.name == name:
            return "".join(self._whole.pieces)
        text, problem = self._first_sound(name, digest)
        if text is None:
            raise Damaged(f"the object it is a delta to is damaged: {problem}")
        return text

    def _put(self, file_name: str, data: bytes) -> None:
        path = self._folder / file_name
        durable.write_whole(path, data)
        self._unsynced[path] = file_name.partition(".")[0]
        self._remember(path)

    def _remember(self, path: Path) -> None:
        name, _, rest = path.name.partition(".")
        if not name:
            # A draft that a crash left.
            with suppress(OSError):
                path.unlink()
            return
        base, dot, _ = rest.rpartition(".")
        try:
            used = path.stat().st_blocks * _BLOCK_BYTES
        except OSError:
            used = 0
        self._files.setdefault(name, []).append(_File(path, base if dot else None, used))
        self._used_bytes += used

    def _is_sound(self, name: str) -> None:
        self._sound.pop(name, None)
        self._sound[name] = None
        while len(self._sound) > _REMEMBERED:
            del self._sound[next(iter(self._sound))]


def make_own_folder(folder: Path) -> None:
    """Make a folder for the caller alone; anything else of its name is set aside. Raises OSError."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        log.error("%s is not a folder: it is set aside as %s.damaged", folder, folder.name)
        durable.rename(folder, f"{folder.name}.damaged")
    durable.make_folder(folder, 0o700)


def _unpacked(data: bytes) -> str:
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(data, MAX_TEXT_BYTES)
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("it is cut off, or has data after its end")
    return text.decode()
