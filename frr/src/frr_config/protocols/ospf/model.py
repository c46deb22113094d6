"""OSPFv2 (RFC 2328): an instance, which is that of one VRF."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from frr_config.protocols.augments import augmented
from frr_config.protocols.policy.model import RouteMapName
from frr_config.references import InterfaceReference, RefersTo
from frr_config.types import Model, Secret

OSPF_INTERFACE = "OSPF interface"
"""Where other protocols add settings (``protocols/augments.py``)."""


def _area_id(value: Any) -> Any:
    """Accept ``0`` as well as ``0.0.0.0``; the canonical text is dotted."""
    if isinstance(value, bool):
        raise ValueError("must be an area: a number, or the form of an IPv4 address")
    if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()):
        number = int(value)
        if number > 0xFFFFFFFF:
            raise ValueError("must be an area: a number up to 4294967295, or the form of an IPv4 address")
        return str(IPv4Address(number))
    if isinstance(value, str):
        try:
            return str(IPv4Address(value))
        except ValueError:
            raise ValueError("must be an area: a number, or the form of an IPv4 address") from None
    return value


AreaId = Annotated[str, BeforeValidator(_area_id), Field(examples=["0.0.0.0"], max_length=15)]
"""OSPF area in dotted text; a plain number is accepted."""


class OspfArea(Model):
    """An area."""

    type: Literal["normal", "stub", "nssa"] = Field(default="normal", title="Type")
    """Stub and not-so-stubby areas (RFC 3101) take no external routes from the backbone."""
    no_summary: bool = Field(default=False, title="Totally stubby")
    """Send only a default route into the stub or NSSA area."""

    @model_validator(mode="after")
    def _no_summary_needs_stub(self) -> Self:
        if self.no_summary and self.type == "normal":
            raise ValueError("no_summary is for stub and nssa areas")
        return self


class OspfAuthentication(Model):
    """Authentication of OSPF packets on an interface (RFC 2328, appendix D)."""

    type: Literal["simple", "md5"] = Field(title="Type")
    """A clear password, or a keyed MD5 digest."""
    key: Secret = Field(title="Key")
    """At most 8 characters for simple, 16 for md5."""
    key_id: int = Field(default=1, ge=1, le=255, title="Key id")
    """Identifies the md5 key."""

    @model_validator(mode="after")
    def _length(self) -> Self:
        text = self.key.get_secret_value()
        limit = 8 if self.type == "simple" else 16
        if not text.startswith("$sealed$") and len(text) > limit:
            raise ValueError(f"a {self.type} key has at most {limit} characters")
        return self


@augmented(OSPF_INTERFACE)
class OspfInterface(Model):
    """OSPF on one interface."""

    area: Annotated[AreaId, RefersTo("/routing/ospf/areas", must_exist=False, own_vrf=True)] = Field(
        title="Area"
    )
    """Area the interface belongs to."""
    cost: int | None = Field(default=None, ge=1, le=65535, title="Cost")
    """Unset means derived from the bandwidth."""
    passive: bool = Field(default=False, title="Passive")
    """Advertise the prefix, but form no adjacency."""
    network_type: Literal["broadcast", "point-to-point"] = Field(default="broadcast", title="Network type")
    """Point-to-point skips the election of a designated router."""
    hello_interval_s: int = Field(
        default=10, ge=1, le=65535, title="Hello interval", json_schema_extra={"unit": "s"}
    )
    """Seconds between hellos; must match the neighbor's."""
    dead_interval_s: int = Field(
        default=40, ge=1, le=65535, title="Dead interval", json_schema_extra={"unit": "s"}
    )
    """Seconds of silence after which the neighbor is down; must match the neighbor's."""
    priority: int = Field(default=1, ge=0, le=255, title="Priority")
    """Priority in the election of the designated router; 0 means never elected."""
    authentication: OspfAuthentication | None = Field(default=None, title="Authentication")
    """Unset means none."""

    @model_validator(mode="after")
    def _dead_above_hello(self) -> Self:
        if self.dead_interval_s <= self.hello_interval_s:
            raise ValueError("dead_interval_s must be greater than hello_interval_s")
        return self


class OspfRedistribute(Model):
    """Redistribution of one protocol into OSPF."""

    route_map: RouteMapName | None = Field(default=None, title="Route map")
    """Filters and changes the redistributed routes."""
    metric: int | None = Field(default=None, ge=0, le=16777214, title="Metric")
    """Metric of the external routes."""
    metric_type: Literal[1, 2] = Field(default=2, title="Metric type")
    """Type 1 adds the internal cost, type 2 does not."""


class OspfRedistributes(Model):
    """Which protocols are redistributed into OSPF."""

    connected: OspfRedistribute | None = Field(default=None, title="Connected")
    """Connected prefixes."""
    static: OspfRedistribute | None = Field(default=None, title="Static")
    """Static routes."""
    bgp: OspfRedistribute | None = Field(default=None, title="BGP")
    """BGP routes."""


class OspfDefaultInformation(Model):
    """Origination of a default route."""

    always: bool = Field(default=False, title="Always")
    """Originate it even when this router has no default route itself."""
    metric: int | None = Field(default=None, ge=0, le=16777214, title="Metric")
    """Metric of the default route."""
    metric_type: Literal[1, 2] = Field(default=2, title="Metric type")
    """Type 1 adds the internal cost, type 2 does not."""
    route_map: RouteMapName | None = Field(default=None, title="Route map")
    """Originate only if the route map permits."""


class Ospf(Model):
    """The OSPFv2 instance."""

    router_id: IPv4Address | None = Field(default=None, title="Router ID")
    """Unset means the highest address, which can change: set it."""
    reference_bandwidth_mbps: int = Field(
        default=100000, ge=1, le=4294967, title="Reference bandwidth", json_schema_extra={"unit": "Mbit/s"}
    )
    """Bandwidth that has cost 1."""
    areas: dict[AreaId, OspfArea] = Field(
        default_factory=dict, title="Areas", json_schema_extra={"x-noun": "area"}
    )
    """Areas by ID. A normal area need not be listed."""
    interfaces: dict[InterfaceReference, OspfInterface] = Field(default_factory=dict, title="Interfaces")
    """Interfaces OSPF runs on, by name."""
    redistribute: OspfRedistributes = Field(default_factory=OspfRedistributes, title="Redistribute")
    """Protocols redistributed into OSPF."""
    default_information: OspfDefaultInformation | None = Field(default=None, title="Default information")
    """Unset means no default route is originated."""

    @model_validator(mode="after")
    def _backbone_is_normal(self) -> Self:
        backbone = self.areas.get("0.0.0.0")
        if backbone is not None and backbone.type != "normal":
            raise ValueError("areas: the backbone 0.0.0.0 cannot be a stub or NSSA area")
        return self
