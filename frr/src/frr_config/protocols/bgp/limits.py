"""Prefix limits, and which of them a change raises. Pure."""

from __future__ import annotations

from math import inf

from frr_config.protocols.bgp.effective import FAMILIES, Family, peer_in
from frr_config.protocols.bgp.model import Bgp


def raised(before: Bgp | None, after: Bgp | None) -> tuple[str, ...]:
    """Addresses of the enabled neighbors that may send more prefixes after the change than before, in either
    family.

    bgpd does not reopen a session that it closed for exceeding its limit, even when the limit changes.
    """
    if before is None or after is None:
        return ()
    return tuple(
        address
        for address, neighbor in after.neighbors.items()
        if neighbor.enabled
        and address in before.neighbors
        and any(_limit(after, address, family) > _limit(before, address, family) for family in FAMILIES)
    )


def _limit(bgp: Bgp, address: str, family: Family) -> float:
    limit = peer_in(bgp, address).limit(family)
    return inf if limit is None else limit
