"""The state of objects in tables: whether they do what the document says, and why they do not."""

from __future__ import annotations

from collections.abc import Iterator

from webui.ui.tables.declaration import Column, Look
from webui.ui.tables.row import Row

_WORDS = {"partly": "partly working", "unknown": "not known"}


def _state(row: Row) -> str:
    found = str(row.live("state", ""))
    return _WORDS.get(found, found)


def _why(row: Row) -> Iterator[str]:
    """Of each part where there are several reasons; else the object's own."""
    parts = [one for one in row.live("parts", ()) if one.why]
    said = dict.fromkeys(one.why for one in parts) or ({row.live("why"): None} if row.live("why") else {})
    yield from said


STANDING = (
    Column(title="State", look=Look.STATE, value=_state, live=True),
    Column(title="Why", look=Look.SENTENCE, value=_why, live=True),
)
"""Columns for rows whose live state is that of an object."""
