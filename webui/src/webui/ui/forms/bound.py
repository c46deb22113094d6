"""A field with its value, its errors and its place in the page's form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Any

from appliance.config.schema import mapping_at
from webui.ui.forms.field import Field, Kind
from webui.ui.pointers import join

_LINKS = 200
"""The most entries of LINKS that a form names."""


@dataclass
class Bound:
    """A field as shown: `text` is the content of the input, `raw` the JSON that it represents.

    `name` is the input's name in the page, `pointer` the field's place in the document (RFC 6901).
    """

    field: Field
    name: str
    pointer: str
    text: str = ""
    raw: Any = None
    present: bool = True
    """Whether an optional group is present."""
    stored: bool = False
    """Whether a secret is already set."""
    key_text: str = ""
    """The key of a mapping's entry, as typed."""
    children: list[Bound] = attribute(default_factory=list)
    errors: list[str] = attribute(default_factory=list)
    theirs: str | None = None
    """The value that another user set in the meantime, as it would appear in the input."""
    offers: Any = None
    """For a group: rows to pick from instead of typing."""

    @property
    def id(self) -> str:
        """The input's id in the page."""
        return "f" + self.name.replace("/", "-").replace("@", "")

    @property
    def refers_to(self) -> str:
        """Pointer of the mapping whose names are valid in the field, in the field's VRF."""
        return mapping_at(self.field.refers_to, self.pointer) if self.field.own_vrf else self.field.refers_to

    @property
    def blank(self) -> Bound:
        """A row to clone when the user adds one; its index is ``__row__``."""
        return blank_row(self.field, f"{self.name}/__row__")

    def walk(self) -> Iterator[Bound]:
        """This field and all fields below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def has_errors(self) -> bool:
        """Whether this or a field below it has an error."""
        return any(bound.errors for bound in self.walk())

    @property
    def is_default(self) -> bool:
        """Whether the field has its default value throughout."""
        return self.raw in (None, self.field.default)

    def selected(self, choice: Any) -> bool:
        """Whether this choice of CHOICE or CHECKS is selected."""
        return choice in self.raw if isinstance(self.raw, list) else str(choice) == self.text

    @property
    def options(self) -> list[tuple[str, bool]]:
        """The choices of CHOICE or CHECKS, each with whether it is selected."""
        return [(str(choice), self.selected(choice)) for choice in self.field.choices]

    @property
    def links(self) -> list[str]:
        """The keys of LINKS that the form names, in order."""
        return [key for key, _ in sorted_entries(self.raw)[:_LINKS]]

    @property
    def more_links(self) -> int:
        """The number of keys that it does not name."""
        return max(0, len(self.raw) - _LINKS)


def show(field: Field, value: Any, name: str, pointer: str) -> Bound:
    """The field with a value of the document."""
    bound = Bound(field=field, name=name, pointer=pointer, raw=value)
    match field.kind:
        case Kind.GROUP:
            bound.present = value is not None or not field.optional
            bound.children = show_children(field.children, value, name, pointer)
        case Kind.ROWS:
            bound.children = [
                _show_row(field, below, f"{name}/{index}", f"{pointer}/{index}")
                for index, below in enumerate(value or ())
            ]
        case Kind.ENTRIES:
            bound.children = [
                _show_row(field, below, f"{name}/{index}", pointer + join(key), str(key))
                for index, (key, below) in enumerate(sorted_entries(value or {}))
            ]
        case Kind.LINES:
            bound.text = "\n".join(str(item) for item in value or ())
        case Kind.CHECKS | Kind.REFERENCES:
            bound.raw = list(value or ())
        case Kind.SECRET:
            bound.stored = bool(value)
        case Kind.LINKS:
            bound.raw = value or {}
        case Kind.SWITCH:
            bound.raw = bool(value)
        case _:
            bound.text = "" if value is None else str(value)
    return bound


def show_children(fields: tuple[Field, ...], value: Any, name: str, pointer: str) -> list[Bound]:
    """The fields of an object with its values, or with their defaults where it is None."""
    given = value if isinstance(value, dict) else {}
    return [
        show(child, given.get(child.name, child.default), f"{name}/{child.name}", pointer + join(child.name))
        for child in fields
    ]


def blank_row(field: Field, name: str) -> Bound:
    """An empty row of ROWS or ENTRIES."""
    return _show_row(field, {}, name, "")


def _show_row(field: Field, value: Any, name: str, pointer: str, key: str = "") -> Bound:
    return Bound(
        field=field,
        name=name,
        pointer=pointer,
        raw=value,
        key_text=key,
        children=show_children(field.children, value, name, pointer),
    )


def sorted_entries(mapping: dict[str, Any]) -> list[tuple[str, Any]]:
    """Entries with numeric keys in numeric order, others unchanged."""
    if all(str(key).isdecimal() for key in mapping):
        return sorted(mapping.items(), key=lambda entry: int(entry[0]))
    return list(mapping.items())
