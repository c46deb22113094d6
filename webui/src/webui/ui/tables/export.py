"""A table as a file: CSV as shown, JSON as the document and the live router have it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict, is_dataclass
from io import StringIO
from typing import Any

from pydantic import BaseModel

from webui.ui.tables.cells import cell_of
from webui.ui.tables.declaration import Table
from webui.ui.tables.listing import below_of, column_titles, exported, name_of
from webui.ui.tables.row import Row

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Characters that a spreadsheet takes for the beginning of a formula; other routers choose some texts."""


def as_csv(table: Table, rows: Iterable[Row]) -> str:
    """One line a row: name, description, then the columns."""
    target = StringIO()
    writer = csv.writer(target, lineterminator="\r\n")
    writer.writerow([table.key_title, "Description", *column_titles(table)])
    for row in rows:
        cells = [cell_of(row, column, table.mapping).text for column in exported(table)]
        writer.writerow([_harmless(text) for text in (name_of(table, row), below_of(table, row), *cells)])
    return target.getvalue()


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_json(rows: Iterable[Row]) -> str:
    """A list of objects: ``name``, ``config`` (null where only live) and ``state``; secrets are masked."""
    found = [
        {
            "name": row.name,
            "config": dict(row.settings) if row.configured and row.pointer else None,
            "state": _plain(row.state),
        }
        for row in rows
    ]
    return json.dumps(found, indent=2, ensure_ascii=False, default=str)


def _plain(state: Any) -> Any:
    if isinstance(state, BaseModel):
        return state.model_dump(mode="json")
    return asdict(state) if is_dataclass(state) and not isinstance(state, type) else state
