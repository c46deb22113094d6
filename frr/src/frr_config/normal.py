"""Differences in what releases of FRR print, and what they print that is no configuration: all in one place.

The canonical form of a line has no space at its ends and one between words.
"""

from __future__ import annotations

import re

# Printed by every daemon, or about the process rather than about routing. ``no ip forwarding`` mirrors the
# kernel's switch, which belongs to the data plane.
_NOT_CONFIGURATION = re.compile(
    r"frr version |frr defaults |hostname |domainname |(?:no )?log |(?:no )?service |line vty$|end$|"
    r"(?:no )?ip forwarding$|(?:no )?ipv6 forwarding$|Building configuration|Current configuration"
)
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
_DEFAULT_ALLOWAS_IN = 3


def is_configuration(text: str) -> bool:
    """False for headers, defaults and settings of the process, which every daemon prints."""
    return _NOT_CONFIGURATION.match(text) is None


def normal_line(text: str) -> str:
    """The canonical form of a stripped line."""
    if text.startswith(("set community ", "bgp community-list ")):
        return _communities(text)
    if text.endswith(" ebgp-multihop"):
        return f"{text} 255"  # FRR 10 leaves out the largest number of hops
    return " ".join(text.split()) if "  " in text and not text.startswith("neighbor ") else text


def is_repeated(text: str, others: set[str]) -> bool:
    """FRR 8.4 prints ``area X nssa`` a second time, before ``area X nssa no-summary``."""
    return text.startswith("area ") and text.endswith(" nssa") and f"{text} no-summary" in others


def community_words(communities: tuple[str, ...]) -> str:
    """Communities in the order and with the names FRR prints them."""

    def number(community: str) -> tuple[int, int]:
        high, low = _NUMBERS.get(community, community).split(":")
        return int(high), int(low)

    return " ".join(_WELL_KNOWN.get(word, word) for word in sorted(communities, key=number))


def allowas_in(times: int) -> str:
    """FRR prints no number for its default, 3."""
    return "allowas-in" if times == _DEFAULT_ALLOWAS_IN else f"allowas-in {times}"


def _communities(text: str) -> str:
    """Communities in the order of their numbers, by name where they have one."""
    words = text.split()
    at = 2 if words[0] == "set" else 6
    additive = words[-1:] == ["additive"]
    values = words[at : len(words) - additive]
    if not all(value in _NUMBERS or re.fullmatch(r"\d+:\d+", value) for value in values):
        return " ".join(words)
    ordered = community_words(tuple(values)).split()
    return " ".join([*words[:at], *ordered, *(["additive"] if additive else [])])
