"""The time and severity of a line, and its text without terminal control characters. Pure."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import UTC, datetime

from appliance.state.logs import SEVERITIES, Severity

MOST_TEXT = 4000
"""How many characters of a line are shown."""
_INSTEAD = dict.fromkeys("\t\n\r", " ")
_NUMBERS: tuple[Severity, ...] = (
    *("critical", "critical", "critical", "error"),
    *("warning", "notice", "info", "debug"),
)
"""By syslog's priority."""
_WORDS: dict[str, Severity] = {
    **{word: word for word in SEVERITIES},
    "warn": "warning",
    "err": "error",
    "emerg": "critical",
    "alert": "critical",
    "crit": "critical",
}
_LOGFMT = re.compile(r"^time=(\S+) level=([a-z]+) ")
_FRR = re.compile(r"^(\d{4})/(\d\d)/(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))? ")
_ISO = re.compile(r"^\[?(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?")
_NGINX = re.compile(r"^(\d{4})/(\d\d)/(\d\d) (\d\d):(\d\d):(\d\d) \[([a-z]+)\]")
_UVICORN = re.compile(r"^(DEBUG|INFO|WARNING|ERROR|CRITICAL): ")
_LEVEL = re.compile(r"\b(DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL)\b")


def read(line: str) -> tuple[str | None, Severity | None]:
    """Its time (ISO 8601, UTC) and severity, if it has them."""
    if line.startswith("{"):
        return _of_json(line)
    if found := _LOGFMT.match(line):
        return _iso(found[1]), _WORDS.get(found[2])
    if found := _NGINX.match(line):
        return _local(found), _WORDS.get(found[7])
    if found := _FRR.match(line):
        return _local(found), None
    if found := _UVICORN.match(line):
        return None, _WORDS[found[1].lower()]
    if found := _ISO.match(line):
        level = _LEVEL.search(line[:120])
        return _iso(f"{found[1]}T{found[2]}"), _WORDS[level[1].lower()] if level else None
    return None, None


def message_of(line: str) -> str:
    """Its text, without its time and its severity."""
    if line.startswith("{"):
        with suppress(ValueError, AttributeError):
            entry = json.loads(line)
            rest = (
                f"{name}={value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
                for name, value in entry.items()
                if name not in ("time", "level", "message") and value not in ("", None, [])
            )
            return " ".join((str(entry.get("message", "")), *rest)).strip()
    if _LOGFMT.match(line):
        return _LOGFMT.sub("", line)
    for pattern in (_NGINX, _FRR):
        if found := pattern.match(line):
            return line[found.end() :].strip()
    return line


def of_priority(priority: str | None) -> Severity | None:
    """Of syslog's number."""
    return _NUMBERS[int(priority)] if priority in tuple("01234567") else None


def clean(text: str) -> str:
    """One line, printable, of bounded length."""
    printed = "".join(
        character if character.isprintable() else _INSTEAD.get(character, "\N{REPLACEMENT CHARACTER}")
        for character in text[: MOST_TEXT + 1]
    )
    return printed if len(printed) <= MOST_TEXT else f"{printed[:MOST_TEXT]} …"


def _of_json(line: str) -> tuple[str | None, Severity | None]:
    try:
        entry = json.loads(line)
    except ValueError:
        return None, None
    at, level = entry.get("time"), entry.get("level")
    return _iso(at) if isinstance(at, str) else None, _WORDS.get(str(level).lower())


def _iso(text: str) -> str | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def _local(found: re.Match[str]) -> str | None:
    """A time of the machine's own zone."""
    try:
        year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
        # The program writes no zone: it is the machine's.
        moment = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001
    except ValueError:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
