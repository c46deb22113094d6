"""Logs in journald, by its own program: the agent links no library of systemd's."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from appliance.errors import Problem, ValidationFailed
from appliance.logs.line_text import of_priority, read
from appliance.logs.source import MOST_LOOKED_AT, Found, LogUnavailable, Wanted
from appliance.state.logs import PARTS, LogLine

_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
_PATIENCE_S = 10.0
_MOST_BYTES = 8 * 1024 * 1024
"""The size limit of journalctl's answer to one question."""
_CURSOR = re.compile(r"^[a-z]=[0-9a-f]+(?:;[a-z]=[0-9a-f]+)*$")
_FRR = "frr.service"
_WEB = "millrace-web.service"
_UNITS = {
    "agent": ("millrace-agent.service",),
    "web": (_WEB, "millrace-web-prepare.service"),
    "nginx": ("nginx.service",),
    "vpp": ("vpp.service",),
    "feeder": ("millrace-feeder.service",),
    "bgpindex": ("millrace-bgp-index.service",),
    "postgres": (
        *("postgresql.service", "postgresql@17-main.service"),
        *("millrace-database.service", "millrace-audit-guard.service"),
    ),
    "redis": ("redis-server.service", "valkey-server.service"),
}
_DAEMONS = ("zebra", "mgmtd", "bgpd", "ospfd", "bfdd", "staticd", "watchfrr")
_FORKED = {"worker": "web-worker", "scheduler": "web-scheduler"}
"""Processes of the web half that are separate parts, by the names they set for themselves."""
_SAID_BY = ("_SYSTEMD_UNIT", "UNIT", "OBJECT_SYSTEMD_UNIT")
"""Fields with the unit that a line is of: the program's own, systemd's of it, and others' of it."""
_NAMES = ("FRR_DAEMON", "SYSLOG_IDENTIFIER", "_COMM")
_FIELDS = ("MESSAGE", "PRIORITY", "_TRANSPORT", *_SAID_BY, *_NAMES)
_PART_OF_PROCESS = {process: part for part, process in _FORKED.items()}
_PART_OF_UNIT = {unit: part for part, units in _UNITS.items() for unit in units}


class Journal:
    """The journal of this machine, or one of its namespaces."""

    def __init__(self, namespace: str | None = None) -> None:
        self._argv = ["journalctl", "--no-pager", "--quiet", "-o", "json"]
        self._argv.append(f"--output-fields={','.join(_FIELDS)}")
        if namespace is not None:
            self._argv.append(f"--namespace={namespace}")

    def parts(self) -> tuple[str, ...]:
        """Every part that a router can have: whether it has logged anything takes long to find out."""
        return PARTS

    def latest(self, wanted: Wanted) -> Found:
        """The newest entries, from the end."""
        return self._backwards(wanted, [], "")

    def before(self, wanted: Wanted, cursor: str) -> Found:
        """Entries before the cursor."""
        return self._backwards(wanted, [f"--after-cursor={_checked(cursor)}"], cursor)

    def after(self, wanted: Wanted, cursor: str) -> Found:
        """Entries after the cursor."""
        since = [] if cursor == "none" else [f"--after-cursor={_checked(cursor)}"]
        entries, cut = self._entries([*since, *_matches(wanted.parts)])
        taken: list[LogLine] = []
        newest, more = cursor, cut
        for looked_at, (place, line) in enumerate(entries):
            newest = place
            if line.part in wanted.parts and wanted.fits(line):
                taken.append(line)
            if len(taken) == wanted.limit:
                more = more or looked_at + 1 < len(entries)
                break
        return Found(tuple(taken), newest, None if cursor == "none" else cursor, more)

    def _backwards(self, wanted: Wanted, since: list[str], cursor: str) -> Found:
        entries, cut = self._entries(["--reverse", *since, *_matches(wanted.parts)])
        taken: list[LogLine] = []
        oldest, unread = None, cut
        for looked_at, (place, line) in enumerate(entries):
            oldest = place
            if line.part in wanted.parts and wanted.fits(line):
                taken.append(line)
            if len(taken) == wanted.limit:
                unread = cut or looked_at + 1 < len(entries)
                break
        newest = cursor or (entries[0][0] if entries else "none")
        return Found(tuple(reversed(taken)), newest, oldest if unread else None)

    def _entries(self, options: Sequence[str]) -> tuple[list[tuple[str, LogLine]], bool]:
        """Cursors and lines from journalctl, and whether there are more. Raises LogUnavailable."""
        try:
            process = subprocess.Popen(
                [*self._argv, *options],
                env=_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except FileNotFoundError:
            raise LogUnavailable("journalctl is not installed on this router") from None
        with process:
            assert process.stdout is not None and process.stderr is not None
            try:
                data, cut = _read(process.stdout.fileno())
            finally:
                process.kill()
            said = os.read(process.stderr.fileno(), 400).decode(errors="replace").strip()
        if not data and said:
            raise LogUnavailable(f"the journal cannot be read: {said.splitlines()[0]}")
        entries = [_entry(line) for line in data.split(b"\n")[:MOST_LOOKED_AT] if line]
        return entries, cut


def _read(pipe: int) -> tuple[bytes, bool]:
    """Whole lines, limited in number and length, and whether there are more."""
    data = bytearray()
    lines = 0
    end = time.monotonic() + _PATIENCE_S
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    while lines <= MOST_LOOKED_AT and len(data) < _MOST_BYTES:
        if not poll.poll(max(0.0, end - time.monotonic()) * 1000):
            break
        if not (more := os.read(pipe, 1024 * 1024)):
            return bytes(data), lines > MOST_LOOKED_AT
        lines += more.count(b"\n")
        data += more
    return bytes(data[: data.rfind(b"\n") + 1]), True


def _entry(line: bytes) -> tuple[str, LogLine]:
    entry: dict[str, Any] = json.loads(line)
    text = _text(entry.get("MESSAGE"))
    said_at, said = read(text)
    micros = int(entry.get("__REALTIME_TIMESTAMP", 0))
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(micros // 1_000_000))
    severity = said or of_priority(_text(entry.get("PRIORITY")))
    when = f"{at}.{micros // 1000 % 1000:03d}+00:00"
    place = str(entry["__CURSOR"])
    return place, LogLine(at=said_at or when, part=_part(entry), severity=severity, text=text)


def _text(value: Any) -> str:
    """A field: text, non-text bytes as numbers, or the first of several."""
    if isinstance(value, list):
        if value and isinstance(value[0], int):
            return bytes(value).decode(errors="replace")
        return _text(value[0]) if value else ""
    return "" if value is None else str(value)


def _part(entry: dict[str, Any]) -> str:
    if _text(entry.get("_TRANSPORT")) == "kernel":
        return "kernel"
    units = [_text(entry.get(field)) for field in _SAID_BY]
    if _WEB in units and (forked := _PART_OF_PROCESS.get(_text(entry.get("_COMM")))) is not None:
        return forked
    for unit in units:
        if unit in _PART_OF_UNIT:
            return _PART_OF_UNIT[unit]
    names = [_text(entry.get(field)) for field in _NAMES]
    return next((name for name in names if name in _DAEMONS), "watchfrr" if _FRR in units else "system")


def _matches(parts: Sequence[str]) -> list[str]:
    """journalctl's own words: entries that match one of the alternatives between plus signs."""
    ways: list[list[str]] = []
    for part in parts:
        if part == "kernel":
            ways.append(["_TRANSPORT=kernel"])
        elif part in _FORKED:
            ways += [[f"{field}={_WEB}", f"_COMM={_FORKED[part]}"] for field in _SAID_BY]
        elif part in _DAEMONS:
            ways += [[f"{field}={_FRR}", f"{name}={part}"] for field in _SAID_BY for name in _NAMES]
        else:
            ways += [[f"{field}={unit}"] for unit in _UNITS[part] for field in _SAID_BY]
    words: list[str] = []
    for way in ways:
        words += [*(["+"] if words else []), *way]
    return words


def _checked(cursor: str) -> str:
    if not _CURSOR.match(cursor):
        raise ValidationFailed([Problem("", "this cursor belongs to no page of these logs")])
    return cursor
