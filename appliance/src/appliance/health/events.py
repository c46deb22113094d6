"""The log of alarms that were raised and cleared: bounded, and on disk.

Two files, ``now.jsonl`` and ``before.jsonl``, a line for each event. When the first is full it takes the
place of the second, whose events are forgotten. A line that cannot be read costs only itself.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from appliance.engine import durable
from appliance.engine.objects import make_own_folder
from appliance.state.alarms import AlarmEvent, Events, EventsQuery

log = logging.getLogger(__name__)

KEPT = 2000
"""How many events are kept; the oldest are removed first."""
FILE_BYTES = 1 << 20
QUOTA_BYTES = 2 * FILE_BYTES
_NOW, _BEFORE = "now.jsonl", "before.jsonl"


class EventLog:
    """Events by their number. Safe to use from any thread; reading does not wait for the disk."""

    def __init__(self, state_dir: Path, file_bytes: int = FILE_BYTES) -> None:
        self._directory, self._file_bytes = state_dir / "events", file_bytes
        self._lock = threading.Lock()
        self._events: deque[AlarmEvent] = deque(maxlen=KEPT)
        self._sizes = {_NOW: 0, _BEFORE: 0}
        self._failure = ""
        try:
            make_own_folder(self._directory)
            for name in (_BEFORE, _NOW):
                self._read(name)
        except OSError as error:
            self._fail(error)

    @property
    def next_number(self) -> int:
        """The number of the next event."""
        return self._events[-1].number + 1 if self._events else 1

    @property
    def usage(self) -> dict[str, int]:
        """The number of ``events``, ``used_bytes`` on disk and the ``quota_bytes``."""
        return {
            "events": len(self._events),
            "used_bytes": sum(self._sizes.values()),
            "quota_bytes": 2 * self._file_bytes,
        }

    def uncleared(self) -> list[AlarmEvent]:
        """The last ``raised`` of each alarm not cleared since, oldest first."""
        open_ones: dict[tuple[str, str], AlarmEvent] = {}
        for event in list(self._events):
            open_ones.pop((event.kind, event.object), None)
            if event.event == "raised":
                open_ones[event.kind, event.object] = event
        return list(open_ones.values())

    def find(self, query: EventsQuery) -> Events:
        """The newest first."""
        with self._lock:
            events = list(self._events)
        found = [event for event in reversed(events) if query.matches(event)]
        return Events(events=tuple(found[query.offset : query.offset + query.limit]), total=len(found))

    def add(self, events: Sequence[AlarmEvent]) -> None:
        """Append events. If the disk does not take them, they are kept in memory. Raises nothing."""
        if not events:
            return
        with self._lock:
            self._events.extend(events)
        lines = b"".join(event.model_dump_json().encode() + b"\n" for event in events)
        # More than a file at once: only the newest lines fit.
        if len(lines) > self._file_bytes:
            lines = lines[-self._file_bytes :].partition(b"\n")[2]
        try:
            if self._sizes[_NOW] + len(lines) > self._file_bytes:
                self._turn()
            durable.append(self._directory / _NOW, lines, self._sizes[_NOW])
        except OSError as error:
            self._fail(error)
            return
        self._sizes[_NOW] += len(lines)
        self._failure = ""

    def _turn(self) -> None:
        if self._sizes[_NOW]:
            durable.rename(self._directory / _NOW, _BEFORE)
        self._sizes = {_NOW: 0, _BEFORE: self._sizes[_NOW]}

    def _read(self, name: str) -> None:
        path = self._directory / name
        try:
            with path.open("rb") as stream:
                # A file that another program enlarged is not read to its end.
                data = stream.read(2 * self._file_bytes)
        except FileNotFoundError:
            return
        except OSError as error:
            # Something else has its name, such as a folder. The next event replaces it.
            log.error("the event log %s cannot be read: %s", path, error)
            durable.remove(path)
            return
        bad = 0
        for line in data.splitlines():
            try:
                event = AlarmEvent.model_validate(json.loads(line))
            except (ValueError, ValidationError, RecursionError):
                bad += 1
                continue
            if not self._events or event.number > self._events[-1].number:
                self._events.append(event)
        if bad:
            log.error("%s of the lines in the event log %s cannot be read and are left out", bad, path)
        # A line that a power cut left unfinished is overwritten.
        whole = data.rfind(b"\n") + 1
        self._sizes[name] = min(whole, self._file_bytes)

    def _fail(self, error: OSError) -> None:
        """Say once why events are not on disk."""
        reason = error.strerror or str(error)
        if reason != self._failure:
            log.error("alarm events cannot be written to %s: %s", self._directory, reason)
        self._failure = reason
