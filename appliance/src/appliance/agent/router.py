"""What the agent owns and shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from appliance.agent import route_table
from appliance.agent.route_lists import RouteLists
from appliance.dataplane.base import DataPlane
from appliance.engine.engine import Engine
from appliance.routing.view import RoutingView
from appliance.state.routes import Routes, RoutesQuery


@dataclass(frozen=True)
class Router:
    """The engine, and what can be looked at besides."""

    engine: Engine
    dataplane: DataPlane
    routing: RoutingView
    netns: str

    @cached_property
    def _lists(self) -> RouteLists:
        return RouteLists(self.routing)

    def routes(self, question: RoutesQuery) -> Routes:
        """RIB, kernel and FIB side by side; one thread at a time may ask for lists."""
        if question.is_list:
            return route_table.routes(question, self.dataplane, self._lists)
        return route_table.route(question, self.dataplane, self.routing)

    def close(self) -> None:
        """Let go of everything; forwarding goes on."""
        self.engine.close()
        self.routing.close()
        self.dataplane.close()
