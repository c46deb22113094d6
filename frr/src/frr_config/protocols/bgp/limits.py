"""Prefix limits, and which of them a change raises. Pure."""

from __future__ import annotations

from math import inf

from frr_config.protocols.bgp.model import Bgp, NeighborFamily

_FAMILIES = ("ipv4_unicast", "ipv6_unicast")


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
        and any(_limit(after, address, family) > _limit(before, address, family) for family in _FAMILIES)
    )


def _limit(bgp: Bgp, address: str, family: str) -> float:
    """The neighbor's own limit, or else its peer group's; a limit that only warns closes nothing."""
    neighbor = bgp.neighbors[address]
    group = bgp.peer_groups.get(neighbor.peer_group) if neighbor.peer_group is not None else None
    for holder in (neighbor, group):
        settings: NeighborFamily | None = getattr(holder, family, None)
        if settings is not None and settings.maximum_prefix is not None:
            return inf if settings.maximum_prefix_warning_only else settings.maximum_prefix
    return inf
