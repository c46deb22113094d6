"""The choices for groups of a form, as the table of the form's objects declares them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from webui.ui.forms import ObjectForm
from webui.ui.page import look
from webui.ui.pages import TABLES
from webui.ui.pointers import parent
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


def offer(form: ObjectForm) -> None:
    """Put the choices next to those groups of the form that have some."""
    tables = [table for _, table in TABLES.values() if table.mapping == parent(form.pointer)]
    declared = [offers for table in tables for offers in table.offers]
    for offers in declared:
        for bound in form.root.children:
            if bound.field.name != offers.field:
                continue
            found = look(lambda ask=offers.ask: list(ask()), [])  # type: ignore[misc]  # bound in this round
            said = {child.field.name: child.raw for child in bound.children if child.raw not in (None, "")}
            rows = tuple(_shown(one, said) for one in found.value)
            if rows:
                bound.offers = ShownOffers(offers.heads, rows)


def _shown(one: Offer, said: dict[str, str]) -> ShownOffer:
    """The row; the selected one uses the document's spelling, so that saving it changes nothing."""
    chosen = said in (dict(one.value), *map(dict, one.also))
    return ShownOffer(json.dumps(said if chosen else dict(one.value)), one.cells, chosen)
