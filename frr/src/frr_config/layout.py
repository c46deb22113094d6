"""The order of a configuration: what is named is written before what names it, the rest as FRR prints it."""

from __future__ import annotations

import re
from collections.abc import Hashable
from functools import lru_cache
from typing import Any, Protocol

SortKey = tuple[Any, ...]


class _Placed(Hashable, Protocol):
    @property
    def context(self) -> tuple[str, ...]: ...
    @property
    def text(self) -> str: ...


_SECTIONS = (
    ("ip route ", "ipv6 route "),
    ("ip prefix-list ",),
    ("ipv6 prefix-list ",),
    ("bgp as-path ",),
    ("bgp community-list ",),
    ("bgp route-map delay-timer ",),
    ("route-map ",),
    ("router bgp ",),
    ("interface ",),
    ("router ospf",),
)
_INSTANCE_WORDS = (
    "bgp router-id",
    "no bgp ebgp-requires-policy",
    "no bgp default",
    "ospf router-id",
    "auto-cost",
    "timers",
    "area",
    "network",
    "redistribute",
    "default-information",
    "neighbor",
    "maximum-paths ibgp",
    "maximum-paths",
)
_NEIGHBOR_WORDS = (
    "remote-as",
    "peer-group",
    "description",
    "shutdown",
    "password",
    "passive",
    "ebgp-multihop",
    "ttl-security",
    "update-source",
    "timers connect",
    "timers",
    "activate",
)
_DIGITS = re.compile(r"(\d+)")


def natural(text: str) -> SortKey:
    """A sort key under which ``seq 5`` comes before ``seq 10``."""
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in _DIGITS.split(text) if part)


@lru_cache(maxsize=1 << 16)
def place(line: _Placed) -> SortKey:
    """Where a line stands in the whole configuration."""
    return context_key(line), line_key(line.text)


def context_key(line: _Placed) -> SortKey:
    """Where the section of a line stands; the line that opens a context comes before its lines."""
    root = line.context[0] if line.context else line.text
    section = next((at for at, starts in enumerate(_SECTIONS) if root.startswith(starts)), len(_SECTIONS))
    opened = line.context or (line.text.startswith(("route-map ", "router ")))
    return (section, natural(root) if opened else (), len(line.context), natural(" ".join(line.context[1:])))


def line_key(text: str) -> SortKey:
    """Where a line stands in its context."""
    if text.startswith("neighbor "):
        return _neighbor_key(text)
    return (_rank(text, _INSTANCE_WORDS), natural(text))


def _neighbor_key(text: str) -> SortKey:
    _, name, rest = text.split(" ", 2)
    is_address = ":" in name or name.replace(".", "").isdecimal()
    attribute = -1 if rest == "peer-group" else _rank(rest, _NEIGHBOR_WORDS)
    return (_INSTANCE_WORDS.index("neighbor"), is_address, natural(name), attribute, natural(rest))


def _rank(text: str, words: tuple[str, ...]) -> int:
    return next((at for at, word in enumerate(words) if text.startswith(word)), len(words))
