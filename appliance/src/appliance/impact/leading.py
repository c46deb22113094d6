"""The routes that lead to addresses now, as the routing daemons have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from appliance.impact.facts import Fact
from appliance.routing.rows import RibRow

MOST = 64
"""How many addresses are looked up for one finding at most: some 0.2 ms of zebra's time each."""
Leading = Mapping[str, tuple[str, str]]
"""By address: prefix and protocol of the selected route of the longest match; empty where there is none."""


@lru_cache(maxsize=64)
def leading(addresses: tuple[str, ...]) -> Fact[Leading]:
    """The fact about these addresses: the same one each time, so that it is read once for a change."""
    return Fact(
        "the routes to next hops and servers",
        lambda live: {one: _leading(live.routing.rib_entry(one)) for one in addresses[:MOST]},
    )


def _leading(rows: Sequence[RibRow]) -> tuple[str, str]:
    return next(((row.prefix, row.protocol) for row in rows if row.selected), ("", ""))
