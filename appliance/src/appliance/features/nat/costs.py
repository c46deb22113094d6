"""The cost of NAT for a packet. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.impact.cost import Paid

NODES = {"nat44": "NAT", "nat-": "NAT"}
CLOCKS = ((1000, 74.7), (10000, 113.1), (100000, 385.3))
"""Sessions -> clocks a packet, by the bench."""
_FLOWS = 10_000


def paid(config: RouterConfig) -> Iterator[Paid]:
    """A packet of an existing session; the more sessions, the more often one is not in the cache."""
    if config.nat is not None:
        yield Paid(f"NAT (with {_FLOWS:,} sessions)", CLOCKS, _FLOWS, "nat44")
