"""The agent's view of the routing daemons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from appliance.routing.known_addresses import Address
from appliance.routing.rows import Family, RibRow
from appliance.state.bgp import BgpNeighborDetail, BgpState
from appliance.state.health import PartHealth
from appliance.state.ospf import OspfState
from appliance.state.routes import RouteCount
from frr_config import Operation, State

T = TypeVar("T")


class VrfRoutingView(Protocol):
    """The routing daemons as they are now, in one VRF. May raise BackendUnavailable; safe to call from any
    thread.
    """

    def in_vrf(self, vrf: str) -> VrfRoutingView:
        """The same of another VRF; empty: the default one."""

    def ask(self, question: Callable[[State], T]) -> T:
        """The answer to ``question`` from the daemons' own ``show`` commands, for a feature's own view.

        zebra and bgpd do nothing else while they answer: only request what is short for any table.
        """

    def operate(self, operation: Operation) -> None:
        """Carry out an operational command, such as clearing a session.

        Raises Conflict with the daemon's message if it refuses.
        """

    def rib_entry(self, destination: str) -> Sequence[RibRow]:
        """Rows of a prefix, or for an address of the longest match; the cost is that of one route."""

    def rib_counts(self, family: Family) -> Mapping[str, RouteCount]:
        """Routes by protocol; the routing daemon walks its table for them."""

    def rib_list(self, family: Family, protocol: str | None, most: int) -> Sequence[RibRow] | None:
        """Rows of the whole table, or of a protocol; None for more than ``most`` prefixes."""

    def bgp_state(self) -> BgpState:
        """The instance and its neighbors."""

    def bgp_neighbor(self, address: str) -> BgpNeighborDetail:
        """One neighbor. Raises NotFound."""

    def ospf_state(self) -> OspfState:
        """The instance, interfaces and neighbors."""


class RoutingView(VrfRoutingView, Protocol):
    """The daemons themselves, and what they know of the default VRF."""

    @property
    def name(self) -> str:
        """As in plans and in health."""

    def interfaces_known(self, closely: Iterable[str] = ()) -> Mapping[str, Any]:
        """What zebra knows about each interface: ``status`` and ``addresses``, the first of each network.

        For those read ``closely``, at one query each, also whether zebra knows a ``link_local`` address.
        """

    def tell_addresses(self, addresses: Iterable[Address]) -> None:
        """Announce again addresses that they do not know."""

    def health(self) -> PartHealth:
        """Whether the daemons run; never raises."""

    def close(self) -> None:
        """Release the sockets."""
