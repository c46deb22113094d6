"""Names of interfaces that FRR does not read as such in a static route.

FRR takes a beginning of a keyword for the keyword, and prefers it to a free name in the same place. The words
here are those of the daemon's own commands (tests/integration/frr/test_competing_words.py).
"""

from __future__ import annotations

from frr_config.protocols.augments import of
from frr_config.protocols.static.model import NEXT_HOP, NextHop, StaticRoute

ALONE = ("reject", "blackhole")
"""Where the interface is all there is of a next hop."""
RESERVED = ("Null0", *ALONE)
"""No interface of these names can be a next hop at all."""
WITH_VALUE = ("color", "label", "nexthop-vrf", "segments", "table", "tag", "vrf")
"""After an address, where another word follows: that is taken for their value."""
WITHOUT_VALUE = ("bfd",)
"""After an address. From FRR 10 on."""


def misread(route: StaticRoute, hop: NextHop) -> str | None:
    """The keyword that FRR reads in place of the interface of this next hop."""
    name = hop.interface
    if name is None:
        return None
    if hop.address is not None:
        added = any(True for one in of(NEXT_HOP) for _ in one.lines(hop))
        more = added or route.tag is not None or hop.distance != 1 or hop.vrf is not None
        words = (*WITHOUT_VALUE, *(WITH_VALUE if more else ()))
    else:
        words = ALONE if hop.vrf is None else ()
    taken = next((word for word in words if word.startswith(name)), None)
    return taken or next((word for word in RESERVED if word.casefold() == name.casefold()), None)
