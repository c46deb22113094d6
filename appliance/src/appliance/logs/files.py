"""Logs in files, one for each program, as supervisord writes and rotates them: ``NAME.log``, ``NAME.log.1``.

A cursor has, for each file, its inode and the position in it. Files are read in blocks; lines of several
parts are merged by their times; a line without a time stays behind the line before it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from appliance.errors import Problem, ValidationFailed
from appliance.logs.line_text import read
from appliance.logs.source import MOST_LOOKED_AT, Found, LogUnavailable, Wanted
from appliance.state.logs import PARTS, LogLine

BLOCK_BYTES = 256 * 1024
"""Read of each file for one page, at most; a longer line is cut there."""
_PLACE = re.compile(r"^([a-z]+)=(\d+)\.(\d+)$")


@dataclass(frozen=True)
class _Place:
    """A place in a part's log: in the file with this inode."""

    inode: int
    offset: int


@dataclass(frozen=True)
class _Read:
    """A line and where its file has it."""

    line: LogLine
    start: _Place
    end: _Place


class LogFiles:
    """The files of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def parts(self) -> tuple[str, ...]:
        """The parts that have a file."""
        return tuple(part for part in PARTS if (self._folder / f"{part}.log").exists())

    def latest(self, wanted: Wanted) -> Found:
        """From the files' ends."""
        return self._backwards(wanted, {part: self._end(part) for part in wanted.parts})

    def before(self, wanted: Wanted, cursor: str) -> Found:
        """From the cursor to the files' beginnings."""
        return self._backwards(wanted, {**dict.fromkeys(wanted.parts), **_places(cursor)})

    def after(self, wanted: Wanted, cursor: str) -> Found:
        """From the cursor to the files' ends."""
        places = {**dict.fromkeys(wanted.parts), **_places(cursor)}
        found: list[_Read] = []
        ends: dict[str, _Place | None] = dict(places)
        more = False
        for part in wanted.parts:
            lines, end, unread = self._forward(part, places.get(part))
            found += lines
            ends[part] = end
            more = more or unread
        found = _by_time(found)
        taken: list[_Read] = []
        for looked_at, one in enumerate(found):
            if wanted.fits(one.line):
                taken.append(one)
            if len(taken) == wanted.limit or looked_at == MOST_LOOKED_AT:
                left = found[looked_at + 1 :]
                # What was read and not taken is read again.
                for one_left in reversed(left):
                    ends[one_left.line.part] = one_left.start
                more = more or bool(left)
                break
        return Found(tuple(one.line for one in taken), _cursor(ends), cursor, more)

    def _backwards(self, wanted: Wanted, places: Mapping[str, _Place | None]) -> Found:
        found: list[_Read] = []
        starts: dict[str, _Place | None] = dict(places)
        unread = False
        for part in wanted.parts:
            lines, start = self._back(part, places.get(part))
            found += lines
            starts[part] = start
            unread = unread or start is not None
        found = _by_time(found)
        taken: list[_Read] = []
        for number, one in enumerate(reversed(found)):
            if wanted.fits(one.line):
                taken.append(one)
            if len(taken) == wanted.limit or number == MOST_LOOKED_AT:
                # What was read and not taken is read again.
                left = found[: len(found) - number - 1]
                starts[one.line.part] = one.start
                starts |= {one_left.line.part: one_left.end for one_left in left}
                unread = unread or bool(left)
                break
        return Found(
            tuple(one.line for one in reversed(taken)),
            _cursor(places),
            _cursor(starts) if unread else None,
        )

    def _file(self, part: str, inode: int) -> Path | None:
        for path in (self._folder / f"{part}.log", self._folder / f"{part}.log.1"):
            try:
                if path.stat().st_ino == inode:
                    return path
            except FileNotFoundError:
                continue
            except OSError as error:
                raise LogUnavailable(f"{path.name} cannot be read: {error.strerror}") from error
        return None

    def _end(self, part: str) -> _Place | None:
        try:
            status = (self._folder / f"{part}.log").stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LogUnavailable(f"{part}.log cannot be read: {error.strerror}") from error
        return _Place(status.st_ino, status.st_size)

    def _older(self, part: str, inode: int) -> _Place | None:
        """The end of the file before this one."""
        try:
            status = (self._folder / f"{part}.log.1").stat()
        except OSError:
            return None
        return None if status.st_ino == inode or not status.st_size else _Place(status.st_ino, status.st_size)

    def _back(self, part: str, end: _Place | None) -> tuple[list[_Read], _Place | None]:
        """The lines that end at ``end``, and where to go on; None at the beginning."""
        if end is None:
            return [], None
        path = self._file(part, end.inode)
        if path is None:
            return [], None
        if end.offset == 0:
            older = self._older(part, end.inode)
            return ([], None) if older is None else self._back(part, older)
        start = max(0, end.offset - BLOCK_BYTES)
        data = _bytes(path, start, end.offset - start)
        if start:
            cut = data.find(b"\n") + 1
            # A block that is a part of one long line counts as a line.
            cut = 0 if cut == len(data) else cut
            start, data = start + cut, data[cut:]
        lines = _lines(part, end.inode, start, data)
        place = _Place(end.inode, start)
        return lines, place if start or self._older(part, end.inode) is not None else None

    def _forward(self, part: str, start: _Place | None) -> tuple[list[_Read], _Place | None, bool]:
        """Lines from ``start``, where they end, and whether there is more behind."""
        now = self._end(part)
        if now is None:
            return [], start, False
        place = start if start is not None else _Place(now.inode, 0)
        path = self._file(part, place.inode)
        if path is None:
            # Rotated away: the lines in between are lost.
            place, path = _Place(now.inode, 0), self._folder / f"{part}.log"
        size = path.stat().st_size if path.exists() else 0
        if size < place.offset:
            # Emptied in place.
            place = _Place(place.inode, 0)
        if size == place.offset and place.inode != now.inode:
            return self._forward(part, _Place(now.inode, 0))
        data = _bytes(path, place.offset, BLOCK_BYTES)
        whole = data.rfind(b"\n") + 1
        if not whole and len(data) == BLOCK_BYTES:
            whole = len(data)
        end = _Place(place.inode, place.offset + whole)
        lines = _lines(part, place.inode, place.offset, data[:whole])
        return lines, end, bool(whole) and (end.offset < size or place.inode != now.inode)


def _bytes(path: Path, offset: int, size: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise LogUnavailable(f"{path.name} cannot be read: {error.strerror}") from error
    try:
        return os.pread(descriptor, size, offset)
    finally:
        os.close(descriptor)


def _lines(part: str, inode: int, offset: int, data: bytes) -> list[_Read]:
    found = []
    for raw in data.splitlines(keepends=True):
        end = offset + len(raw)
        text = raw.decode(errors="replace").rstrip("\r\n")
        if text:
            at, severity = read(text)
            line = LogLine(at=at, part=part, severity=severity, text=text)
            found.append(_Read(line, _Place(inode, offset), _Place(inode, end)))
        offset = end
    return found


def _by_time(found: Iterable[_Read]) -> list[_Read]:
    """In order of time; a line without one stays behind the previous line of its part."""
    last: dict[str, str] = {}
    keyed = []
    for one in found:
        at = one.line.at or last.get(one.line.part, "")
        # A clock set back does not change the order within a part.
        at = max(at, last.get(one.line.part, ""))
        last[one.line.part] = at
        keyed.append((at, one))
    return [one for _, one in sorted(keyed, key=lambda pair: pair[0])]


def _cursor(places: Mapping[str, _Place | None]) -> str:
    given = (f"{part}={place.inode}.{place.offset}" for part, place in places.items() if place is not None)
    return ";".join(given) or "none"


def _places(cursor: str) -> dict[str, _Place | None]:
    """Raises ValidationFailed."""
    places: dict[str, _Place | None] = {}
    for text in () if cursor == "none" else cursor.split(";"):
        found = _PLACE.match(text)
        if found is None or found[1] not in PARTS:
            raise ValidationFailed([Problem("", "this cursor belongs to no page of these logs")])
        places[found[1]] = _Place(int(found[2]), int(found[3]))
    return places
