"""What the agent owns and shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from appliance.dataplane.base import DataPlane
from appliance.engine.engine import Engine
from appliance.routing.rows import Family, RibCount


class RoutingView(Protocol):
    """What the agent shows of the routing daemons. May raise BackendUnavailable."""

    def rib_entry(self, destination: str) -> Sequence[dict[str, Any]]:
        """Rows of a prefix, or for an address of the longest match; the cost is that of one route."""

    def rib_counts(self, family: Family) -> Mapping[str, RibCount]:
        """Routes by protocol; the routing daemon walks its table for them."""

    def rib_list(self, family: Family, protocol: str | None, most: int) -> Sequence[dict[str, Any]] | None:
        """Rows of the whole table, or of a protocol; None for more than ``most`` prefixes."""

    def bgp_state(self) -> dict[str, Any]:
        """Instance and ``neighbors`` by address."""

    def bgp_neighbor(self, address: str) -> dict[str, Any]:
        """One neighbor. Raises NotFound."""

    def ospf_state(self) -> dict[str, Any]:
        """``neighbors``, ``interfaces`` and ``areas``."""

    def health(self) -> dict[str, Any]:
        """``state`` and ``detail``; never raises."""

    def close(self) -> None:
        """Let go of sockets."""


@dataclass(frozen=True)
class Router:
    """The engine, and what can be looked at besides."""

    engine: Engine
    dataplane: DataPlane
    routing: RoutingView
    netns: str

    def close(self) -> None:
        """Let go of everything; forwarding goes on."""
        self.engine.close()
        self.routing.close()
        self.dataplane.close()
