"""The user's question to a table, from the address and as the query part of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from webui.ui.tables.declaration import Search


@dataclass(frozen=True)
class Query:
    """The user's question to a table: words that must all occur in a row, a column to sort by, a page."""

    words: str = ""
    sort: str = ""
    """Title of the column; empty for the order of the names."""
    descending: bool = False
    page: int = 1
    kind: str = ""
    """The tab, on a page that has tabs."""
    fields: tuple[tuple[str, str], ...] = ()
    """Fields of a search that are filled in, with their values."""
    vrf: str = ""
    """The VRF whose rows are shown; empty for the default one, and where rows belong to no VRF."""

    @classmethod
    def of(cls, given: QueryDict, search: Search | None = None, vrf: str = "") -> Query:
        """From the address."""
        page = given.get("page", "1")
        return cls(
            given.get("q", "").strip()[:200],
            given.get("sort", "")[:80],
            given.get("desc") == "1",
            int(page) if page.isdecimal() and len(page) < 7 else 1,
            given.get("kind", "")[:80],
            tuple(
                (field.name, value)
                for field in (search.fields if search else ())
                if (value := given.get(field.name, "").strip()[:80])
            ),
            vrf,
        )

    def address(self, **other: Any) -> str:
        """The same question with parts replaced, as the query part of an address."""
        asked = {
            "vrf": self.vrf,
            "kind": self.kind,
            **dict(self.fields),
            "q": self.words,
            "sort": self.sort,
            "desc": "1" if self.descending else "",
            "page": self.page if self.page > 1 else "",
            **other,
        }
        return "?" + urlencode({name: value for name, value in asked.items() if value})
