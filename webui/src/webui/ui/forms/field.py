"""A form's description of one field of the document, read from its JSON schema."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """How a field is shown; the value is also the name of its template."""

    TEXT = "text"
    INTEGER = "integer"
    CHOICE = "choice"
    SWITCH = "switch"
    SECRET = "secret"
    CONSTANT = "constant"
    LINES = "lines"
    """A list of words or numbers, one a line."""
    REFERENCE = "reference"
    """The name of another object, picked from the existing ones."""
    REFERENCES = "references"
    """Names of other objects in order, each picked from the existing ones."""
    CHECKS = "checks"
    """A list of a few possible words."""
    GROUP = "group"
    """A nested object."""
    ROWS = "rows"
    """A list of objects."""
    ENTRIES = "entries"
    """A mapping from names to small objects, edited in place."""
    LINKS = "links"
    """A mapping from names to large objects, each edited on its own page."""


@dataclass(frozen=True)
class Field:
    """One field. `optional`: null is a valid value; `required`: there is no default."""

    name: str
    kind: Kind
    title: str
    help: str = ""
    unit: str = ""
    required: bool = False
    optional: bool = False
    default: Any = None
    choices: tuple[Any, ...] = ()
    examples: tuple[str, ...] = ()
    integer_items: bool = False
    """Whether the values of LINES, or a word of TEXT that looks like a number, are numbers."""
    max_length: int | None = None
    bounds: str = ""
    """The range in words, such as ``1280 to 9216``."""
    children: tuple[Field, ...] = ()
    """Fields of a GROUP, or of each of ROWS and ENTRIES."""
    key: Field | None = None
    """The key of ENTRIES and LINKS."""
    refers_to: str = ""
    """Pointer of the mapping whose keys this field names."""
    own_vrf: bool = False
    """Whether the mapping is that of the field's own VRF."""

    @property
    def template(self) -> str:
        """Template that shows the field."""
        return f"ui/forms/{self.kind}.html"

    @property
    def many(self) -> bool:
        """Whether it has several inputs, so that its title labels no single one."""
        return self.kind in (Kind.ROWS, Kind.ENTRIES, Kind.LINKS, Kind.CHECKS, Kind.REFERENCES)

    @property
    def hint(self) -> str:
        """An example as a placeholder, or the default."""
        if self.optional and self.default is None:
            return f"e.g. {self.examples[0]}" if self.examples else ""
        if self.default not in (None, "", [], {}) and not isinstance(self.default, (dict, list, bool)):
            return str(self.default)
        return f"e.g. {self.examples[0]}" if self.examples else ""
