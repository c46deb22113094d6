"""The order of a configuration: what is named is written before what names it, the rest as FRR prints it."""

from __future__ import annotations

from functools import lru_cache

from frr_config.line import Line
from frr_config.natural import SortKey, natural
from frr_config.protocols import PROTOCOLS
from frr_config.syntax import UNRANKED
from frr_config.tables import meaning_of, opens

_PLACES = sorted((at, starts) for protocol in PROTOCOLS for at, starts in protocol.places.items())
_LAST = max(at for at, _ in _PLACES) + 1


@lru_cache(maxsize=1 << 16)
def place(line: Line) -> SortKey:
    """Where a line stands in the whole configuration."""
    return _context_key(line), line_key(line)


def _context_key(line: Line) -> SortKey:
    """Where the section of a line stands; the line that opens a context comes before its lines."""
    root = line.context[0] if line.context else line.text
    section = next((at for at, starts in _PLACES if root.startswith(starts)), _LAST)
    meaning = meaning_of(line.context, line.text)
    if meaning is not None and meaning.form.last:
        section += 1
    opened = (*line.context, line.text) if opens(line) else line.context
    return (section, natural(root) if opened else (), len(opened), natural(" ".join(opened[1:])))


def line_key(line: Line) -> SortKey:
    """Where a line stands in its context."""
    if opens(line):
        return ()
    meaning = meaning_of(line.context, line.text)
    if meaning is None:
        return (UNRANKED, natural(line.text))
    form = meaning.form
    if form.group is None:
        return (form.rank, natural(line.text))
    return (form.rank, *form.group(meaning.match["name"]), form.inner_rank, natural(line.text))
