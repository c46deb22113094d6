"""The cost of access lists for a packet. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.counted import counted
from appliance.config.document import RouterConfig
from appliance.impact.cost import Paid

NODES = {"acl-plugin": "access lists"}
CLOCKS = ((1, 95.1), (50, 113.0), (1024, 169.0), (10000, 169.0))
"""Rules of an interface -> clocks a packet, by the bench."""


def paid(config: RouterConfig) -> Iterator[Paid]:
    """The interface with the most rules for received packets, and that for sent ones."""
    for direction in ("in", "out"):
        sizes = {
            name: sum(
                len(config.acls[acl].rules) for acl in getattr(one, f"acl_{direction}") if acl in config.acls
            )
            for name, one in config.interfaces.items()
            if getattr(one, f"acl_{direction}")
        }
        if sizes:
            name = max(sizes, key=lambda key: sizes[key])
            what = f"access lists {direction} on {name} ({counted(sizes[name], 'rule')})"
            yield Paid(what, CLOCKS, sizes[name], "acl-plugin")
