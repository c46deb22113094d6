"""The column of the objects that name this one."""

from __future__ import annotations

from typing import Any

from webui.ui.tables.declaration import Column, Link
from webui.ui.tables.row import Row

_SHOWN = 4


def _users(row: Row) -> list[Any]:
    places = row.used_by
    shown: list[Any] = [Link("", place) for place in places[:_SHOWN]]
    return [*shown, f"and {len(places) - _SHOWN} more"] if len(places) > _SHOWN else shown


USED_BY = Column(title="Used by", value=_users)
"""The first few, each with a link."""
