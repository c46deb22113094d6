"""One line of FRR's configuration, and who holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Context = tuple[str, ...]
"""The lines that a line is below, outermost first."""
Daemons = frozenset[str]


class Line(NamedTuple):
    """One line of configuration, without indentation, in its context.

    ``context`` is ``()`` at the top, and two lines inside a context that is in another one.
    """

    context: Context
    text: str


Holders = Mapping[Line, Daemons]
"""Lines, and for each the daemons that have it."""
