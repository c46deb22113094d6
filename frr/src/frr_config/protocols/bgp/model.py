"""BGP-4 (RFC 4271): an instance, which is that of one VRF."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from frr_config.protocols.augments import augmented
from frr_config.protocols.policy.model import PrefixListName, RouteMapName
from frr_config.references import AnyVrf, InterfaceReference, RefersTo
from frr_config.types import Address, Asn, Description, Model, Name, Prefix, Secret

BGP_SESSION = "BGP session"
"""Where other protocols add settings (``protocols/augments.py``)."""


class BgpTimers(Model):
    """Session timers. A running session keeps the values it negotiated until it is next set up."""

    keepalive_s: int = Field(default=60, ge=1, le=21845, title="Keepalive", json_schema_extra={"unit": "s"})
    """Seconds between keepalives."""
    hold_s: int = Field(default=180, ge=3, le=65535, title="Hold time", json_schema_extra={"unit": "s"})
    """Seconds of silence after which the session is closed (RFC 4271)."""

    @model_validator(mode="after")
    def _keepalive_below_hold(self) -> Self:
        if self.keepalive_s * 3 > self.hold_s:
            raise ValueError("hold_s must be at least three times keepalive_s (RFC 4271)")
        return self


class NeighborFamily(Model):
    """What is exchanged with a neighbor (or peer group) in one address family."""

    route_map_in: RouteMapName | None = Field(default=None, title="Route map in")
    """Route map for received routes."""
    route_map_out: RouteMapName | None = Field(default=None, title="Route map out")
    """Route map for advertised routes."""
    prefix_list_in: PrefixListName | None = Field(default=None, title="Prefix list in")
    """Prefix list for received routes."""
    prefix_list_out: PrefixListName | None = Field(default=None, title="Prefix list out")
    """Prefix list for advertised routes."""
    maximum_prefix: int | None = Field(default=None, ge=1, le=4294967295, title="Maximum prefixes")
    """Close the session when the neighbor sends more prefixes than this."""
    maximum_prefix_warning_only: bool = Field(default=False, title="Only warn")
    """Log instead of closing the session."""
    next_hop_self: bool = Field(default=False, title="Next hop self")
    """Advertise this router as the next hop."""
    soft_reconfiguration_inbound: bool = Field(default=False, title="Keep received routes")
    """Keep received routes as they were before policy, at the cost of memory."""
    route_reflector_client: bool = Field(default=False, title="Route reflector client")
    """Reflect iBGP routes to this neighbor (RFC 4456)."""
    default_originate: bool = Field(default=False, title="Originate default")
    """Advertise a default route to this neighbor."""
    allowas_in: int | None = Field(default=None, ge=1, le=10, title="Allow own AS")
    """Accept AS paths that contain this router's AS up to this many times."""
    remove_private_as: bool = Field(default=False, title="Remove private AS numbers")
    """Remove private AS numbers (RFC 6996) from advertised AS paths."""

    @model_validator(mode="after")
    def _warning_needs_limit(self) -> Self:
        if self.maximum_prefix_warning_only and self.maximum_prefix is None:
            raise ValueError("maximum_prefix_warning_only needs maximum_prefix")
        return self


@augmented(BGP_SESSION)
class SessionSettings(Model):
    """How the session with a neighbor is set up and kept."""

    remote_asn: Asn | Literal["internal", "external"] | None = Field(default=None, title="Remote AS")
    """The neighbor's AS number, or internal / external for any of that kind."""
    description: Description = Field(default="", title="Description")
    """Shown beside the neighbor."""
    password: Secret | None = Field(default=None, title="Password")
    """TCP MD5 signature key (RFC 2385). Changing it resets the session."""
    ebgp_multihop: int | None = Field(default=None, ge=2, le=255, title="eBGP multihop")
    """Largest distance, in hops, of an eBGP neighbor that is not directly connected."""
    ttl_security_hops: int | None = Field(default=None, ge=1, le=254, title="TTL security")
    """Accept only packets from at most this many hops away (GTSM, RFC 5082)."""
    update_source: Address | InterfaceReference | None = Field(default=None, title="Update source")
    """Local address, or interface, the session is set up from."""
    timers: BgpTimers | None = Field(default=None, title="Timers")
    """Timers; unset means those of the peer group, then of the BGP instance."""
    connect_retry_s: int | None = Field(
        default=None, ge=1, le=65535, title="Connect retry", json_schema_extra={"unit": "s"}
    )
    """Seconds between attempts to set up the session."""
    passive: bool = Field(default=False, title="Passive")
    """Wait for the neighbor to connect."""

    @model_validator(mode="after")
    def _multihop_or_gtsm(self) -> Self:
        if self.ebgp_multihop is not None and self.ttl_security_hops is not None:
            raise ValueError("ebgp_multihop and ttl_security_hops exclude each other")
        return self


class NeighborSettings(SessionSettings):
    """What a neighbor and a peer group have in common."""

    ipv4_unicast: NeighborFamily | None = Field(
        default=None, title="IPv4 unicast", json_schema_extra={"x-needed": True}
    )
    """IPv4 unicast; unset means not exchanged (or as the peer group says)."""
    ipv6_unicast: NeighborFamily | None = Field(
        default=None, title="IPv6 unicast", json_schema_extra={"x-needed": True}
    )
    """IPv6 unicast; unset means not exchanged (or as the peer group says)."""


class PeerGroup(NeighborSettings):
    """Settings that several neighbors share."""


class Neighbor(NeighborSettings):
    """A BGP neighbor."""

    peer_group: Annotated[Name, RefersTo("/routing/bgp/peer_groups", own_vrf=True)] | None = Field(
        default=None, title="Peer group"
    )
    """Peer group whose settings apply where this neighbor has none."""
    enabled: bool = Field(default=True, title="Enabled")
    """Set the session up; if not, it is administratively shut down."""


class BgpRedistribute(Model):
    """Redistribution of one protocol into BGP."""

    route_map: RouteMapName | None = Field(default=None, title="Route map")
    """Filters and changes the redistributed routes."""
    metric: int | None = Field(default=None, ge=0, le=4294967295, title="Metric")
    """MED of the redistributed routes."""


class BgpRedistributes(Model):
    """Which protocols are redistributed into this family."""

    connected: BgpRedistribute | None = Field(default=None, title="Connected")
    """Connected prefixes."""
    static: BgpRedistribute | None = Field(default=None, title="Static")
    """Static routes."""
    ospf: BgpRedistribute | None = Field(default=None, title="OSPF")
    """OSPF routes (IPv4)."""


class BgpFamily(Model):
    """One address family of the BGP instance."""

    networks: tuple[Prefix, ...] = Field(default=(), max_length=10000, title="Networks")
    """Prefixes this router originates when they are in its routing table."""
    redistribute: BgpRedistributes = Field(default_factory=BgpRedistributes, title="Redistribute")
    """Protocols redistributed into BGP."""
    maximum_paths: int = Field(default=64, ge=1, le=64, title="eBGP multipath")
    """Maximum number of equal eBGP paths used at once."""
    maximum_paths_ibgp: int = Field(default=64, ge=1, le=64, title="iBGP multipath")
    """Maximum number of equal iBGP paths used at once."""
    import_vrfs: tuple[AnyVrf, ...] = Field(default=(), max_length=64, title="Import from VRFs")
    """VRFs whose BGP routes of this family are imported: all that BGP has there, whether learned, one of its
    networks or redistributed. Packets to these routes are forwarded in the other VRF.
    """
    import_route_map: RouteMapName | None = Field(default=None, title="Import route map")
    """Route map for the routes imported from other VRFs."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for name, what in (("networks", "prefix"), ("import_vrfs", "VRF")):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ValueError(f"{name} names a {what} twice")
        if self.import_route_map is not None and not self.import_vrfs:
            raise ValueError("import_route_map needs import_vrfs")
        return self


class Bgp(Model):
    """The BGP instance. A change of the AS number deletes and recreates it, which resets every session."""

    asn: Asn = Field(title="AS number")
    """This router's AS number."""
    router_id: IPv4Address | None = Field(default=None, title="Router ID")
    """Unset means the highest address, which can change: set it."""
    ebgp_requires_policy: bool = Field(default=True, title="eBGP requires policy")
    """Exchange nothing with an eBGP neighbor that has no policy (RFC 8212)."""
    timers: BgpTimers = Field(default_factory=BgpTimers, title="Timers")
    """Timers of neighbors that set none."""
    peer_groups: dict[Name, PeerGroup] = Field(
        default_factory=dict, title="Peer groups", json_schema_extra={"x-noun": "peer group"}
    )
    """Peer groups by name."""
    neighbors: dict[Address, Neighbor] = Field(default_factory=dict, title="Neighbors")
    """Neighbors by address."""
    ipv4_unicast: BgpFamily = Field(default_factory=BgpFamily, title="IPv4 unicast")
    """Originated IPv4 routes."""
    ipv6_unicast: BgpFamily = Field(default_factory=BgpFamily, title="IPv6 unicast")
    """Originated IPv6 routes."""

    @model_validator(mode="after")
    def _families(self) -> Self:
        for prefix in self.ipv4_unicast.networks:
            if ":" in prefix:
                raise ValueError(f"ipv4_unicast networks: {prefix} is not an IPv4 prefix")
        for prefix in self.ipv6_unicast.networks:
            if ":" not in prefix:
                raise ValueError(f"ipv6_unicast networks: {prefix} is not an IPv6 prefix")
        if self.ipv6_unicast.redistribute.ospf is not None:
            raise ValueError("ipv6_unicast redistribute: OSPFv2 has no IPv6 routes")
        return self

    @model_validator(mode="after")
    def _groups_of_one_kind(self) -> Self:
        kinds: dict[str, bool] = {}
        for address, neighbor in self.neighbors.items():
            group = neighbor.peer_group
            if group is None or neighbor.remote_asn is None:
                continue
            is_internal = neighbor.remote_asn in ("internal", self.asn)
            if kinds.setdefault(group, is_internal) != is_internal:
                raise ValueError(
                    f"neighbors {address}: members of peer group {group} must be all internal or all external"
                )
        return self

    @model_validator(mode="after")
    def _groups_only_warn(self) -> Self:
        for address, neighbor in self.neighbors.items():
            group = self.peer_groups.get(neighbor.peer_group) if neighbor.peer_group is not None else None
            for family in ("ipv4_unicast", "ipv6_unicast"):
                own, shared = getattr(neighbor, family), getattr(group, family, None)
                if own is None or shared is None or own.maximum_prefix is None:
                    continue
                if shared.maximum_prefix_warning_only and not own.maximum_prefix_warning_only:
                    raise ValueError(
                        f"neighbors {address}: {family} cannot close the session at maximum_prefix, "
                        f"because peer group {neighbor.peer_group} only warns"
                    )
        return self
