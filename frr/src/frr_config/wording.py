"""One-line summaries of changes, without secrets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from frr_config.line import Line
from frr_config.masking import mask_line
from frr_config.step import Command
from frr_config.syntax import ObjectKey

_LONGEST = 160


def added(key: ObjectKey, lines: Iterable[Line]) -> str:
    """``add static route 198.51.100.0/24 via 10.0.0.2``."""
    return f"add {key.title}{_cut(key.kind.detail(lines))}"


def removed(key: ObjectKey, lines: Iterable[Line]) -> str:
    """``remove static route 198.51.100.0/24 via 10.0.0.2``."""
    return f"remove {key.title}{_cut(key.kind.detail(lines))}"


def changed(key: ObjectKey, commands: Iterable[Command], after: Mapping[Line, object]) -> str:
    """``change BGP neighbor 192.0.2.1: timers 10 30``."""
    if detail := key.kind.detail(after):
        return f"change {key.title}{_cut(detail)}"
    words = [_short(key, mask_line(command.text)) for command in commands if command.mode == "configure"]
    return _cut(f"change {key.title}: {'; '.join(dict.fromkeys(words))}")


def _short(key: ObjectKey, text: str) -> str:
    """The line without the words that only repeat its object."""
    for words in key.kind.repeated:
        start = words.format(name=key.name)
        for no in ("", "no "):
            if text.startswith(no + start):
                return no + text.removeprefix(no + start)
    return text


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
