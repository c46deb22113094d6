"""What a line sets, how it is taken back, and whether another line of the same setting replaces it.

Every removal here is one that bgpd, ospfd, zebra, staticd and mgmtd were seen to accept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from frr_config.config import Line


@dataclass(frozen=True, slots=True)
class Setting:
    """A line's meaning to the plan."""

    key: str
    """Lines of one context with the same key are values of the same setting."""
    removal: str
    """The line that takes it back."""
    replaced: bool = True
    """A new value of the setting can be given without taking back the old one."""


# Settings with one value: the words before the value. Where the words are enough to take it back they are
# in the first list, where FRR wants the value too in the second.
_TAKEN_BACK_BY_NAME = tuple(
    re.compile(rf"(?:{pattern})(?= |$)")
    for pattern in (
        r"neighbor \S+ (?:description|password|ebgp-multihop|update-source|timers connect|timers)",
        r"neighbor \S+ (?:remote-as|allowas-in|maximum-prefix)",
        r"bgp router-id|timers bgp|maximum-paths ibgp|maximum-paths|bgp route-map delay-timer",
        r"ospf router-id|auto-cost reference-bandwidth|default-information originate",
        r"ip ospf (?:network|authentication-key|authentication|cost|hello-interval|dead-interval|priority)",
        r"ip ospf message-digest-key \d+",
        r"ip(?:v6)? prefix-list \S+ description",
        r"description|call|on-match(?= )|set as-path prepend",
    )
)
_TAKEN_BACK_BY_VALUE = tuple(
    re.compile(rf"(?:{pattern})(?= |$)")
    for pattern in (
        r"neighbor \S+ ttl-security",
        r"ip(?:v6)? prefix-list \S+ seq \d+",
        r"bgp as-path access-list \S+ seq \d+",
        r"bgp community-list standard \S+ seq \d+",
        r"(?:match|set) (?:ip|ipv6) \S+ (?:prefix-list|global)|(?:match|set) ip \S+|(?:match|set) \S+",
    )
)
_POLICY = re.compile(r"(?P<name>neighbor \S+ (?:route-map|prefix-list)) \S+ (?P<direction>in|out)$")
_REDISTRIBUTE = re.compile(r"redistribute \S+")
_AREA_TYPE = re.compile(r"(?P<area>area \S+) (?P<type>stub|nssa)")
_AREA = re.compile(r"ip ospf area ")
_STATIC = re.compile(
    r"(?P<path>ip(?:v6)? route \S+ (?:blackhole|\S+(?: (?!tag )[a-z]\S*)?))"
    r"(?: tag \d+)?(?: (?P<distance>\d+))?$"
)


@lru_cache(maxsize=65536)
def setting_of(line: Line) -> Setting:
    """The setting a line is a value of; a line this package never writes is a setting of its own."""
    text = line.text
    if text.startswith("no "):
        return Setting(text, text.removeprefix("no "))
    if match := _STATIC.match(text):
        # One path has one distance and one tag: new ones replace the old.
        distance = "" if match["distance"] is None else f" {match['distance']}"
        return Setting(match["path"], f"no {match['path']}{distance}")
    if match := _POLICY.match(text):
        return Setting(f"{match['name']} {match['direction']}", f"no {text}")
    if match := _AREA_TYPE.match(text):
        return Setting(match["area"], f"no {match['area']} {match['type']}", replaced=False)
    if match := _REDISTRIBUTE.match(text):
        # bgpd keeps a metric or a route map that the new line leaves out; ospfd does not.
        in_bgp = line.context[:1] and line.context[0].startswith("router bgp ")
        return Setting(match[0], f"no {match[0]}", replaced=not in_bgp)
    if _AREA.match(text):
        return Setting("ip ospf area", f"no {text}", replaced=False)
    for pattern in _TAKEN_BACK_BY_NAME:
        if match := pattern.match(text):
            return Setting(match[0], f"no {_on_match(text) or match[0]}")
    for pattern in _TAKEN_BACK_BY_VALUE:
        if match := pattern.match(text):
            return Setting(match[0], f"no {text}")
    return Setting(text, f"no {text}")


def _on_match(text: str) -> str | None:
    """FRR wants to be told which continuation is taken back."""
    words = text.split()
    return " ".join(words[:2]) if words[0] == "on-match" else None
