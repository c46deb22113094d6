"""The packets that the punt policers passed and dropped."""

from __future__ import annotations

from dataclasses import dataclass

from vpp_config.client import VppClient
from vpp_config.objects.base import Family
from vpp_config.objects.punt_policer import policer_index, policer_name
from vpp_config.stats import StatsSegment

_FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")


@dataclass(frozen=True)
class PuntCounts:
    """Packets of a family since the policer was made or changed."""

    family: Family
    passed: int
    dropped: int


def punt_counts(client: VppClient, prefix: str, segment: StatsSegment) -> tuple[PuntCounts, ...]:
    """Counts of the families whose packets are policed.

    Raises ``StatsUnavailable``, ``VppUnavailable``, ``VppApiError``.
    """
    if not client.supports("policer_dump_v2"):
        return ()
    found = {family: policer_index(client.call, policer_name(prefix, family)) for family in _FAMILIES}
    indexes = {family: index for family, index in found.items() if index is not None}
    return segment.read(lambda reading: tuple(_count(reading, family, at) for family, at in indexes.items()))


def _count(segment: StatsSegment, family: Family, index: int) -> PuntCounts:
    conform, exceed, violate = (
        sum(
            thread[2 * index]
            for thread in segment.combined(f"/net/policer/{kind}")
            if 2 * index < len(thread)
        )
        for kind in ("conform", "exceed", "violate")
    )
    return PuntCounts(family, conform, exceed + violate)
