"""Live state, as the agent reads it from the data plane and FRR."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import ConfigDict, Field

from appliance.errors import NotFound
from webui.accounts.roles import Role
from webui.agent import agent
from webui.api import state_schemas as shapes
from webui.api.auth import needs
from webui.api.paging import Offset
from webui.errors import RequestProblem

router = Router(tags=["state"])


class RoutesQuery(Schema):
    """Which routes."""

    model_config = ConfigDict(extra="ignore")

    prefix: str | None = Field(
        None,
        max_length=64,
        description="An address, for the route that packets to it take, or a prefix, for its own route.",
    )
    longest: bool = Field(False, description="Of a prefix: the route that its first address takes.")
    within: bool = Field(False, description="Of a prefix: the list of it and longer ones inside it.")
    protocol: str | None = Field(
        None, pattern=r"^[a-z0-9_-]{1,20}$", description="Only routes of this protocol."
    )
    family: Literal["ipv4", "ipv6"] | None = Field(None, description="Only this address family.")


RouteLimit = Annotated[int, Query(100, ge=1, le=1000, description="Routes in one page.")]


@router.get(
    "/state/interfaces",
    auth=needs(Role.VIEWER),
    response=shapes.Interfaces,
    exclude_unset=True,
    operation_id="get_interfaces_state",
)
def interfaces(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """Links, addresses and MTU of every interface."""
    return agent().state_interfaces()


@router.get(
    "/state/routes",
    auth=needs(Role.VIEWER),
    response=shapes.Routes,
    exclude_unset=True,
    operation_id="get_routes_state",
)
def routes(request: HttpRequest, query: Query[RoutesQuery], limit: RouteLimit, offset: Offset) -> Any:  # noqa: ARG001 - ninja's signature
    """RIB, kernel and data plane FIB side by side.

    A list is shown of up to `list_limit` routes of a family, or of one of its protocols; a prefix or an
    address is answered whatever the size of the table.
    """
    return agent().state_routes(
        prefix=None if query.prefix is None else _prefix(query.prefix),
        longest=query.longest,
        within=query.within,
        protocol=query.protocol,
        family=query.family,
        offset=offset,
        limit=limit,
    )


@router.get(
    "/state/bgp",
    auth=needs(Role.VIEWER),
    response=shapes.BgpState,
    exclude_unset=True,
    operation_id="get_bgp_state",
)
def bgp(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """BGP sessions."""
    return agent().state_bgp()


@router.get(
    "/state/bgp/neighbors/{address}",
    auth=needs(Role.VIEWER),
    response=shapes.BgpNeighborState,
    exclude_unset=True,
    operation_id="get_bgp_neighbor_state",
)
def bgp_neighbor(request: HttpRequest, address: str) -> Any:  # noqa: ARG001 - ninja's signature
    """One BGP session in detail."""
    try:
        known = ip_address(address)
    except ValueError:
        raise NotFound("A neighbor is named by its address.") from None
    if isinstance(known, IPv6Address) and known.scope_id is not None:
        raise NotFound("A neighbor is named by its address without a zone.")
    return agent().state_bgp_neighbor(str(known))


@router.get(
    "/state/ospf",
    auth=needs(Role.VIEWER),
    response=shapes.OspfState,
    exclude_unset=True,
    operation_id="get_ospf_state",
)
def ospf(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """OSPF neighbors, areas and interfaces."""
    return agent().state_ospf()


@router.get(
    "/state/acls",
    auth=needs(Role.VIEWER),
    response=shapes.Acls,
    exclude_unset=True,
    operation_id="get_acls_state",
)
def acls(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """Hit counters of access lists."""
    return agent().state_acls()


@router.get(
    "/state/control-plane",
    auth=needs(Role.VIEWER),
    response=shapes.ControlPlane,
    exclude_unset=True,
    operation_id="get_control_plane_state",
)
def control_plane(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """Packets for the router itself, accepted and dropped by reason on each data interface."""
    return agent().state_control_plane()


@router.get(
    "/state/neighbors",
    auth=needs(Role.VIEWER),
    response=shapes.Neighbors,
    exclude_unset=True,
    operation_id="get_neighbors_state",
)
def neighbors(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """ARP and IPv6 neighbor tables."""
    return agent().state_neighbors()


@router.get(
    "/state/hardware",
    auth=needs(Role.VIEWER),
    response=shapes.Hardware,
    exclude_unset=True,
    operation_id="get_hardware_state",
)
def hardware(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """NICs, workers and memory."""
    return agent().state_hardware()


@router.get(
    "/state/health",
    auth=needs(Role.VIEWER),
    response=shapes.Health,
    exclude_unset=True,
    operation_id="get_health_state",
)
def health(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """Whether the parts of the router are well."""
    return agent().state_health()


def _prefix(text: str) -> str:
    try:
        return str(ip_network(text, strict=False)) if "/" in text else str(ip_address(text))
    except ValueError:
        raise RequestProblem(422, "must be a prefix or an address", pointer="/prefix") from None
