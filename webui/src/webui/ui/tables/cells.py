"""The content of a table: cells of rows, with their sorting, filtering and export."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from socket import AF_INET6, inet_aton, inet_pton
from typing import Any

from appliance.config import schema
from appliance.config.schema import refers_to
from appliance.errors import NotFound
from webui.ui.objects import inside
from webui.ui.pointers import MISSING, get, join
from webui.ui.tables.declaration import Column, Link, Look, Table
from webui.ui.tables.row import Row

SortKey = tuple[Any, ...]
_DIGITS = re.compile(r"(\d+)")
_KNOWN = 4096
"""The most fields whose titles and targets are cached: a mapping of each VRF counts separately."""


@dataclass(frozen=True)
class Cell:
    """One cell. `lines` are texts or links; for RULES triples; for COUNTERS the counters' names."""

    column: Column
    lines: tuple[Any, ...]

    @property
    def look(self) -> str:
        """How it is shown."""
        return self.column.look.value

    @property
    def text(self) -> str:
        """Its lines as one text, for filters and export."""
        if self.column.look is Look.RULES:
            return "; ".join(" ".join(map(str, rule)) for rule in self.lines)
        return "" if self.column.look in (Look.SPARK, Look.COUNTERS) else ", ".join(map(str, self.lines))

    @property
    def only(self) -> Any:
        """Its one value, or None."""
        return self.lines[0] if self.lines else None


def cell_of(row: Row, column: Column, mapping: str) -> Cell:
    """The cell of a row in a column."""
    if column.look in (Look.COUNTERS, Look.SPARK):
        return Cell(column, column.counters)
    if column.value is not None:
        return Cell(column, _lines(column.value(row)))
    if column.live:
        return Cell(column, _lines(row.live(column.field)))
    lines = _lines(row.said(column.field))
    target = _target(mapping, column.field)
    if target:
        lines = tuple(linked(row, target, str(line)) for line in lines)
    return Cell(column, lines)


def linked(row: Row, mapping: str, name: str) -> Link | str:
    """The name of another object with a link to it; the name alone where no such object exists."""
    pointer = mapping + join(name)
    return name if get(row.candidate.document, pointer) is MISSING else Link(name, pointer)


def _lines(value: Any) -> tuple[Any, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    if isinstance(value, Link):
        return (value if value.text else replace(value, text=inside(value.pointer)),)
    if isinstance(value, (str, int, float)):
        return (value,)
    if isinstance(value, Iterable):
        return tuple(line for one in value for line in (_lines(one) if isinstance(one, Link) else (one,)))
    return (str(value),)


def sort_key(cell: Cell) -> SortKey:
    """Numbers by value, texts with the numbers in them by value; empty values come last."""
    if not cell.lines:
        return (2,)
    first = cell.lines[0]
    if isinstance(first, (int, float)):
        return (0, float(first))
    return (1, *natural(cell.text))


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A sort key that puts ``10.2.0.0`` before ``10.10.0.0``."""
    return tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part.lower())
        for part in _DIGITS.split(text)
        if part
    )


@lru_cache(maxsize=1 << 17)  # a list is shown again and again, with the same names
def by_address(name: str) -> SortKey:
    """A sort key that puts ``10.2.0.0/16`` before ``10.10.0.0/16`` and IPv4 before IPv6; names that are no
    addresses come last. For lists of 100,000 routes it takes less than half the time of `natural`.
    """
    address, _, length = name.partition("/")
    try:
        if ":" in address:
            return (6, inet_pton(AF_INET6, address), int(length or 128))
        return (4, inet_aton(address), int(length or 32))
    except (OSError, ValueError):
        return (9, natural(name))


def title_of(column: Column, table: Table) -> str:
    """The column's own title, or that of the field in the document."""
    if column.title or not column.field:
        return column.title
    return _title(table.mapping, column.field)


@lru_cache(_KNOWN)
def _title(mapping: str, field: str) -> str:
    return str(_schema_of(mapping, field).get("title") or last_word(field))


def last_word(field: str) -> str:
    """The last part of a dotted path as a title: ``ipv4_unicast.route_map_in`` → ``Route map in``."""
    return field.rpartition(".")[2].replace("_", " ").capitalize()


@lru_cache(_KNOWN)
def _target(mapping: str, field: str) -> str:
    """Pointer of the mapping whose entry the field names; empty for any other field."""
    return refers_to(_schema_of(mapping, field), mapping) if mapping and field else ""


def _schema_of(mapping: str, field: str) -> dict[str, Any]:
    """Schema of a field of the mapping's objects, of any kind; empty where the document has none."""
    try:
        return schema.at(mapping + join("", *field.split(".")))
    except NotFound:
        return {}
