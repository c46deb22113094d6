"""What FRR's daemons have learned in one VRF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from appliance.engine.backend import BackendUnavailable
from appliance.errors import Conflict, NotFound
from appliance.routing.rows import Family, RibRow, bgp_neighbor, bgp_state, ospf_state, rib_counts, rib_rows
from appliance.routing.view import VrfRoutingView
from appliance.state.bgp import BgpNeighborDetail, BgpState
from appliance.state.ospf import OspfState
from appliance.state.routes import RouteCount
from frr_config import FakeFrr, FrrClient, Operation, State
from frr_config.errors import FrrError, FrrUnavailable

T = TypeVar("T")
_VIEWS = 8
"""How many VRFs' views are kept: recently read lists depend on them."""


class FrrView:
    """See VrfRoutingView."""

    name = "frr"

    def __init__(self, client: FrrClient | FakeFrr, vrf: str = "") -> None:
        self._client = client
        self._state = client.in_vrf(vrf) if vrf else client
        self._views: dict[str, FrrView] = {}

    def in_vrf(self, vrf: str) -> VrfRoutingView:
        """See VrfRoutingView."""
        if not vrf:
            return self
        view = self._views.pop(vrf, None) or FrrView(self._client, vrf)
        self._views[vrf] = view
        while len(self._views) > _VIEWS:
            del self._views[next(iter(self._views))]
        return view

    def ask(self, question: Callable[[State], T]) -> T:
        """The answer to ``question``; see RoutingView."""
        return self._asking(lambda: question(self._state))

    def operate(self, operation: Operation) -> None:
        """Carry out an operational command. Raises Conflict with FRR's message if it refuses."""
        try:
            self._client.operate(operation)
        except FrrUnavailable as error:
            raise BackendUnavailable(self.name, str(error)) from error
        except FrrError as error:
            raise Conflict(str(error)) from error

    def rib_entry(self, destination: str) -> Sequence[RibRow]:
        """Rows of a prefix, or for an address of the longest match; the cost is that of one route."""
        found = self._asking(lambda: self._state.rib_lookup(destination))
        return [] if found is None else list(rib_rows([found]))

    def rib_counts(self, family: Family) -> dict[str, RouteCount]:
        """Routes by protocol. zebra walks its table for them."""
        return rib_counts(self._asking(lambda: self._state.rib_summary(family)))

    def rib_list(self, family: Family, protocol: str | None, most: int) -> Sequence[RibRow] | None:
        """Rows of the whole table, or of a protocol; None for more than ``most`` prefixes.

        zebra does nothing else until it has written them all: only request lists known to be short.
        """
        page = self._asking(lambda: self._state.rib(family, None, protocol, limit=most))
        return None if page.more else list(rib_rows(page.items))

    def bgp_state(self) -> BgpState:
        """Instance and neighbors."""
        summary = self._asking(self._state.bgp_summary)
        return bgp_state(summary, self._asking(self._state.bgp_neighbors))

    def bgp_neighbor(self, address: str) -> BgpNeighborDetail:
        """One neighbor, as FRR shows it. Raises NotFound."""
        found = self._asking(lambda: self._state.bgp_neighbor(address))
        detail = found.get(address, found)
        if not detail or "bgpNoSuchNeighbor" in found or "bgpState" not in detail:
            raise NotFound(f"there is no BGP neighbor {address}")
        return BgpNeighborDetail(**dict(bgp_neighbor(detail, {})), detail=detail)

    def ospf_state(self) -> OspfState:
        """Instance, interfaces and neighbors."""
        return ospf_state(
            self._asking(self._state.ospf_summary),
            self._asking(self._state.ospf_interfaces),
            self._asking(self._state.ospf_neighbors),
        )

    def _asking(self, question: Callable[[], T]) -> T:
        try:
            return question()
        except FrrError as error:
            raise BackendUnavailable(self.name, str(error)) from error
