"""The answer of one table, the kernel's or a data plane's, to one question about a route."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NextHop:
    """One path; ``address`` is None for a directly connected destination."""

    address: str | None
    interface: str | None
    weight: int


@dataclass(frozen=True, slots=True)
class Entry:
    """The route that answers the question. ``prefix`` None: the table does not say which prefix."""

    prefix: str | None
    kind: str
    """``unicast``, ``local``, ``blackhole``, ``unreachable``, ``prohibit``, or a word of the table's own."""
    next_hops: tuple[NextHop, ...] = ()


@dataclass(frozen=True, slots=True)
class Untold:
    """The table offers no query for it; ``reason`` is a sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class VrfTable:
    """The table of a VRF: the kernel knows it by the name of its device, VPP by its number."""

    name: str
    number: int


RouteAnswer = Entry | Untold | None
"""None: there is no such route."""
