"""The cost of static routes for a packet. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.impact.cost import Paid

_FEW = 100
CLOCKS = ((1, 0.0), (10000, 11.1), (262144, 110.9), (1000000, 123.9))
"""Routes, each of them hit -> clocks a packet, by the bench."""


def paid(config: RouterConfig) -> Iterator[Paid]:
    """A lookup among them; routes that neighbors announce are not in the document."""
    count = len(config.routing.static)
    if count >= _FEW:
        yield Paid(f"lookup among {count:,} static routes", CLOCKS, count, "ip4-lookup")
