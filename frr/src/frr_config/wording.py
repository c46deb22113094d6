"""One-line summaries of changes, without secrets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from frr_config.config import Line
from frr_config.layout import line_key
from frr_config.masking import mask_line
from frr_config.objects import ObjectKey
from frr_config.step import Command

_LONGEST = 160


def added(key: ObjectKey, lines: Iterable[Line]) -> str:
    """``add static route 198.51.100.0/24 via 10.0.0.2``."""
    return f"add {key.title}{_via(key, lines)}"


def removed(key: ObjectKey, lines: Iterable[Line]) -> str:
    """``remove static route 198.51.100.0/24 via 10.0.0.2``."""
    return f"remove {key.title}{_via(key, lines)}"


def changed(key: ObjectKey, commands: Iterable[Command], after: Mapping[Line, object]) -> str:
    """``change BGP neighbor 192.0.2.1: timers 10 30``."""
    if key.kind == "static":
        return f"change {key.title}{_via(key, after)}"
    words = [_short(key, mask_line(command.text)) for command in commands if command.mode == "configure"]
    return _cut(f"change {key.title}: {'; '.join(dict.fromkeys(words))}")


def _via(key: ObjectKey, lines: Iterable[Line]) -> str:
    if key.kind != "static":
        return ""
    paths = [line.text.split(" ", 3)[3] for line in sorted(lines, key=lambda line: line_key(line.text))]
    return _cut(" blackhole" if paths == ["blackhole"] else f" via {', '.join(paths)}")


def _short(key: ObjectKey, text: str) -> str:
    """Without the words that only repeat which object it is."""
    for start in (f"neighbor {key.name} ", "ip ospf ", f"{key.name} ", f"{key.title} "):
        for no in ("", "no "):
            if text.startswith(no + start):
                return no + text.removeprefix(no + start)
    return text


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
