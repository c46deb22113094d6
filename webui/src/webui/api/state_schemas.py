"""Shapes of live state. What a data plane or FRR does not tell is left out; what it tells besides is kept."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Number = int | float


class _Live(BaseModel):
    # Not ninja's Schema, which drops what the model does not name.
    model_config = ConfigDict(extra="allow")


class InterfaceState(_Live):
    """An interface as it is now."""

    name: str
    type: str | None = Field(None, description="ethernet, sub_interface or loopback.")
    enabled: bool | None = None
    link: str | None = Field(None, description="up or down.")
    mac: str | None = None
    mtu: int | None = Field(None, description="Bytes of the largest IP packet.")
    addresses: list[str] = []
    speed_bps: int | None = None
    parent: str | None = None
    vlan_id: int | None = None
    driver: str | None = None
    note: str | None = Field(None, description="Why the NIC is slower than it could be.")


class Interfaces(_Live):
    """Every interface."""

    interfaces: list[InterfaceState]


class Hop(_Live):
    """One path of a route."""

    address: str | None = None
    interface: str | None = None
    weight: Number | None = None


class RouteState(_Live):
    """One prefix in RIB, kernel and data plane's FIB; null where a table lacks it or did not tell."""

    prefix: str
    family: str | None = None
    protocol: str | None = None
    distance: Number | None = None
    metric: Number | None = None
    uptime: str | Number | None = None
    rib: list[Hop] | None = None
    kernel: list[Hop] | None = None
    fib: list[Hop] | None = None
    untold: dict[str, str] = Field({}, description="Why a table did not tell: by `kernel` or `fib`.")
    consistent: bool | None = None
    disagreement: str = Field("", description="Where the tables differ, in a sentence.")


class RouteCount(_Live):
    """Routes of one protocol."""

    rib: int = Field(description="Known to FRR.")
    fib: int = Field(description="Of these, installed.")


class Routes(_Live):
    """A page of the list of routes, or the answer for one prefix or address."""

    routes: list[RouteState]
    total: int = Field(description="Routes in this list; those in `unlisted` come on top.")
    note: str = Field("", description="What is not in the list, and why; empty when it is whole.")
    unlisted: dict[str, int] = Field({}, description="Routes that were counted and not listed, by family.")
    counts: dict[str, dict[str, RouteCount]] = Field({}, description="Of a list: by family and protocol.")
    age_s: Number = Field(0, description="Seconds since FRR was asked for the list.")
    list_limit: int | None = Field(None, description="Routes up to which there are lists.")
    offset: int
    limit: int


class BgpNeighborState(_Live):
    """One BGP session."""

    state: str | None = None
    remote_asn: int | None = None
    local_asn: int | None = None
    description: str | None = None
    established_epoch_s: Number | None = None
    uptime_ms: Number | None = None
    families: dict[str, Any] = Field({}, description="Prefixes received and sent by address family.")


class BgpState(_Live):
    """The BGP instance and its sessions."""

    asn: int | None = None
    router_id: str | None = None
    neighbors: dict[str, BgpNeighborState] = {}


class OspfState(_Live):
    """The OSPF instance."""

    router_id: str | None = None
    areas: dict[str, Any] | list[Any] = {}
    interfaces: dict[str, Any] | list[Any] = {}
    neighbors: list[Any] | dict[str, Any] = []


class AclRuleState(_Live):
    """Hits of one rule."""

    sequence: int
    packets: int | None = None
    bytes: int | None = None


class AclState(_Live):
    """An access list with its hits and where it is bound."""

    name: str
    rules: list[AclRuleState] = []
    bindings: list[dict[str, Any]] = []


class Acls(_Live):
    """Every access list."""

    acls: list[AclState]


class GuardedInterface(_Live):
    """Packets for the router itself that came in by one interface."""

    interface: str
    accepted: dict[str, int] = Field({}, description="Packets by what they were accepted as.")
    dropped: dict[str, int] = Field({}, description="Packets by why they were dropped.")


class PuntPolicer(_Live):
    """How many packets of a family VPP hands to Linux."""

    family: str
    rate_pps: int = Field(description="Packets a second above which it drops.")
    passed: int
    dropped: int


class ControlPlane(_Live):
    """What guards the router itself; there are policers on the vpp data plane only."""

    interfaces: list[GuardedInterface]
    policers: list[PuntPolicer]


class NeighborState(_Live):
    """An entry of the ARP or IPv6 neighbor table."""

    interface: str | None = None
    address: str
    mac: str | None = None
    state: str | None = None


class Neighbors(_Live):
    """ARP and IPv6 neighbor tables."""

    neighbors: list[NeighborState]


class Hardware(_Live):
    """NICs, workers and memory."""

    nics: list[dict[str, Any]] = []


class PartHealth(_Live):
    """Whether one part is well."""

    state: str
    detail: str = ""


class Health(_Live):
    """Every part, asked now."""

    parts: dict[str, PartHealth]
