"""What the router lets in for itself, as a value."""

from __future__ import annotations

from dataclasses import dataclass

SERVICES = {"ssh": 22, "https": 443}
"""TCP ports of the management services."""
KEY = "control_plane"
OF_INTERFACES = ("interfaces", "ospf", "bfd_links")
"""Fields that name interfaces, and nothing besides."""


@dataclass(frozen=True, order=True)
class BgpPeer:
    """Who may speak BGP: an address, or a range of them, as a prefix."""

    prefix: str
    least_ttl: int = 0
    """TTL, or hop limit, that its packets must have at least (GTSM, RFC 5082); 0: any."""


@dataclass(frozen=True, order=True)
class BfdPeer:
    """Who may speak BFD: an address as a prefix."""

    prefix: str
    multihop: bool = False
    """Over several hops (RFC 5883), else on the link (RFC 5881)."""


@dataclass(frozen=True, order=True)
class TunnelEnd:
    """Who may send packets of a tunnel: its other end as a prefix."""

    prefix: str
    protocol: int
    """IANA's number of what carries the packets in it."""


@dataclass(frozen=True, order=True)
class Opening:
    """A management service that an interface lets in."""

    interface: str
    service: str
    source: str = ""
    """Prefix it is open to; empty: any."""


@dataclass(frozen=True)
class ControlPlane:
    """What the guarded interfaces let in for the router itself; every tuple is sorted.

    What arrives elsewhere, such as on a management NIC, is not looked at.
    """

    interfaces: tuple[str, ...] = ()
    """Those that are guarded."""
    bgp: tuple[BgpPeer, ...] = ()
    ospf: tuple[str, ...] = ()
    """Interfaces on which OSPF speaks."""
    bfd: tuple[BfdPeer, ...] = ()
    bfd_links: tuple[str, ...] = ()
    """Interfaces on which every neighbor of the link may speak BFD: OSPF finds its neighbors itself."""
    tunnels: tuple[TunnelEnd, ...] = ()
    management: tuple[Opening, ...] = ()
    altered: bool = False
    """Somebody else changed the rules: never so in what is wanted."""

    @property
    def key(self) -> str:
        """There is one."""
        return KEY
