"""The choices for groups of a form, as the table of the form's objects declares them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from webui.ui.forms import ObjectForm
from webui.ui.page import look
from webui.ui.pages import TABLES
from webui.ui.pointers import get, last, parent
from webui.ui.tables.declaration import Offer


@dataclass(frozen=True)
class ShownOffer:
    """A row to pick."""

    value: str
    cells: tuple[str, ...]
    chosen: bool


@dataclass(frozen=True)
class ShownOffers:
    """The rows, with the text above them; `typed` where none of them matches the form."""

    heads: tuple[str, ...]
    rows: tuple[ShownOffer, ...]

    @property
    def typed(self) -> bool:
        """Whether the fields hold something else."""
        return not any(row.chosen for row in self.rows)


def offer(form: ObjectForm, document: Mapping[str, Any]) -> None:
    """Put the choices next to those groups of the form that have some, and who has taken one."""
    mapping = parent(form.pointer)
    tables = [table for _, table in TABLES.values() if table.mapping == mapping]
    others = {name: one for name, one in get(document, mapping, {}).items() if name != last(form.pointer)}
    declared = [offers for table in tables for offers in table.offers]
    for offers in declared:
        for bound in form.root.children:
            if bound.field.name != offers.field:
                continue
            found = look(lambda ask=offers.ask: list(ask()), [])  # type: ignore[misc]  # bound in this round
            said = {child.field.name: child.raw for child in bound.children if child.raw not in (None, "")}
            taken = [(name, other[offers.field]) for name, other in others.items() if other.get(offers.field)]
            rows = tuple(_shown(one, said, taken) for one in found.value)
            if rows:
                bound.offers = _without_empty((*offers.heads, "Used by"), rows)


def _shown(one: Offer, said: dict[str, str], taken: Iterable[tuple[str, Any]]) -> ShownOffer:
    """The row; the selected one uses the document's spelling, so that saving it changes nothing."""
    ways = (dict(one.value), *map(dict, one.also))
    chosen = said in ways
    users = ", ".join(name for name, value in taken if value in ways)
    return ShownOffer(json.dumps(said if chosen else dict(one.value)), (*one.cells, users), chosen)


def _without_empty(heads: tuple[str, ...], rows: tuple[ShownOffer, ...]) -> ShownOffers:
    """The columns that say something."""
    kept = [at for at in range(len(heads)) if any(row.cells[at] for row in rows)]
    return ShownOffers(
        tuple(heads[at] for at in kept),
        tuple(replace(row, cells=tuple(row.cells[at] for at in kept)) for row in rows),
    )
