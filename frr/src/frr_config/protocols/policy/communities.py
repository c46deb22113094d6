"""Communities as FRR prints them: ordered by number, by name where they have one (RFC 1997, 7999, 8326)."""

from __future__ import annotations

import re

_WELL_KNOWN = {
    "65535:0": "graceful-shutdown",
    "65535:1": "accept-own",
    "65535:2": "route-filter-translated-v4",
    "65535:3": "route-filter-v4",
    "65535:4": "route-filter-translated-v6",
    "65535:5": "route-filter-v6",
    "65535:6": "llgr-stale",
    "65535:7": "no-llgr",
    "65535:8": "accept-own-nexthop",
    "65535:666": "blackhole",
    "65535:65281": "no-export",
    "65535:65282": "no-advertise",
    "65535:65283": "local-AS",
    "65535:65284": "no-peer",
}
_NUMBERS = {name: number for number, name in _WELL_KNOWN.items()}


def community_words(communities: tuple[str, ...]) -> str:
    """Communities in the order and with the names FRR prints them."""

    def number(community: str) -> tuple[int, int]:
        high, low = _NUMBERS.get(community, community).split(":")
        return int(high), int(low)

    return " ".join(_WELL_KNOWN.get(word, word) for word in sorted(communities, key=number))


def normal_communities(text: str) -> str | None:
    """A line that ends in communities, as FRR prints it; None for any other line."""
    if not text.startswith(("set community ", "bgp community-list ")):
        return None
    words = text.split()
    at = 2 if words[0] == "set" else 6
    additive = words[-1:] == ["additive"]
    values = words[at : len(words) - additive]
    if not all(value in _NUMBERS or re.fullmatch(r"\d+:\d+", value) for value in values):
        return " ".join(words)
    ordered = community_words(tuple(values)).split()
    return " ".join([*words[:at], *ordered, *(["additive"] if additive else [])])


def plain_community(community: str) -> str:
    """A community as two numbers, from its number or its name."""
    return _NUMBERS.get(community, community)
