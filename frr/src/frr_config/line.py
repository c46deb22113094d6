"""One line of FRR's configuration, and who holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

Context = tuple[str, ...]
"""The lines that a line is below, outermost first."""
Daemons = frozenset[str]
_OPENERS: Mapping[Context, tuple[str, ...]] = {(): ("router ", "route-map "), ("bfd",): ("profile ",)}
"""What the lines begin with that open a context, by the context they are in."""
EMPTY_CONTEXTS = ("interface ", "address-family ", "bmp targets ", "vrf ", "bfd")
"""What opens a context that FRR prints, and keeps, without anything in it: the opening line says nothing."""


class Line(NamedTuple):
    """One line of configuration, without indentation, in its context.

    ``context`` is ``()`` at the top, ``("router bgp 65000", "address-family ipv4 unicast")`` inside an
    address family.
    """

    context: Context
    text: str

    @property
    def opens(self) -> bool:
        """Whether it opens a context that FRR prints even where nothing is in it."""
        return self.text.startswith(_OPENERS.get(self.context, ()))


Holders = Mapping[Line, Daemons]
"""Lines, and for each the daemons that have it."""
