"""What the agent owns and shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from appliance.dataplane.base import DataPlane
from appliance.engine.engine import Engine


class RoutingView(Protocol):
    """What the agent shows of the routing daemons. May raise BackendUnavailable."""

    def rib(self, prefix: str | None = None, family: str | None = None) -> Iterable[dict[str, Any]]:
        """Rows of the RIB; ``prefix`` without length is an address: the route packets to it take."""

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
