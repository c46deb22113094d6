"""The load that the packets of a bench pass besides two routes. Features declare it in their ``bench.py``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from appliance.features.registry import declared

if TYPE_CHECKING:
    # A machine without VPP does not load what drives it.
    from appliance.bench.traffic import Streams
    from vpp_config import VppClient


@dataclass(frozen=True)
class Ends:
    """Where it is made: the bench's table, and VPP's numbers of its interfaces, left and right."""

    table: int
    indexes: tuple[int, int]
    next_hop: str
    """On the left."""
    address: str
    """The router's, on the right."""


class Load(ABC):
    """One kind, of any size from 1 to ``most``. It is made of the bench's own table and interfaces."""

    name: ClassVar[str]
    """The scenario's."""
    packets: ClassVar[str]
    """What the scenario sends, in the words of the API."""
    units: ClassVar[str]
    """What its size counts."""
    usual: ClassVar[int]
    most: ClassVar[int]
    warm: ClassVar[bool] = False
    """Whether each flow must have passed once before."""

    @abstractmethod
    def title(self, size: int) -> str:
        """In the result."""

    @abstractmethod
    def passes(self, size: int) -> str:
        """What table and interfaces have, after: what the router's own routes and features cost."""

    @abstractmethod
    def streams(self, macs: Sequence[str], size: int) -> Streams:
        """The packets, to the router's addresses left and right."""

    @abstractmethod
    def put(self, vpp: VppClient, size: int, ends: Ends) -> None:
        """Make it. Raises VppError, Conflict, with part of it made."""

    def take_from(self, vpp: VppClient, indexes: Sequence[int]) -> None:  # noqa: B027 - some go with the table
        """Remove whatever exists of it, before these interfaces of a bench are removed with the table.

        Raises VppError.
        """

    def remains(self, vpp: VppClient) -> int:  # noqa: ARG002 - the table and the interfaces are counted anyway
        """How many objects of it exist besides the table and the interfaces."""
        return 0

    def against(self, vpp: VppClient) -> str:  # noqa: ARG002 - most loads harm nobody
        """Why VPP cannot have it without harm, even if wanted anyway; empty: it can. Raises VppError."""
        return ""

    def routes(self, size: int) -> int:  # noqa: ARG002 - most loads are none
        """How much of VPP's room for routes it takes."""
        return 0

    def heap_bytes(self, size: int, threads: int) -> int:  # noqa: ARG002 - most loads take little
        """Its use of VPP's main heap besides routes, with this many forwarding threads."""
        return 0


@cache
def loads() -> Mapping[str, Load]:
    """Of all features, by name."""
    return {load.name: load for load in declared("bench", "LOAD")}
