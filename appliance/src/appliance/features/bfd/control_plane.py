"""BFD is let in from whom it watches, and from the links on which OSPF looks for its neighbors. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from appliance.config.document import RouterConfig
from appliance.config.services import Form, Only, OpenLink, Peer, Ports, Service
from frr_config import Routing
from frr_config.protocols.bfd.augments import profile_of, watched
from frr_config.protocols.bgp.model import Bgp, Neighbor, PeerGroup
from frr_config.protocols.ospf.model import OspfInterface

CONTROL, _ECHO, _FAR = 3784, 3785, 4784
"""UDP ports: RFC 5881 on a link, RFC 5883 over several hops."""
_FROM_THE_LINK = 255
"""TTL that no packet from further away can have."""
ON_THE_LINK, OVER_HOPS = "link", "far"
"""Forms of a session."""

SERVICES = (
    Service(
        "bfd",
        "BFD",
        (Ports("udp", (CONTROL, _ECHO, _FAR)),),
        forms={
            ON_THE_LINK: Form(
                (
                    Only(Ports("udp", (CONTROL,)), ttl=_FROM_THE_LINK),
                    # The other end has forwarded it once.
                    Only(Ports("udp", (_ECHO,)), least_ttl=_FROM_THE_LINK - 1),
                )
            ),
            OVER_HOPS: Form((Only(Ports("udp", (_FAR,))),), detail="over several hops"),
        },
        links=(Only(Ports("udp", (CONTROL,)), family="ipv4", ttl=_FROM_THE_LINK),),
    ),
)


def opens(config: RouterConfig) -> Iterator[Peer | OpenLink]:
    """The neighbors and next hops, and the links."""
    yield from peers(config)
    yield from links(config)


def links(config: RouterConfig) -> Iterator[OpenLink]:
    """Interfaces on which every neighbor of the link may speak BFD: OSPF finds its neighbors itself."""
    ospf = config.routing.ospf
    for name, settings in () if ospf is None else ospf.interfaces.items():
        interface = config.interfaces.get(name)
        if _watches(settings) and interface is not None and interface.link is not None:
            yield OpenLink("bfd", name)


def _watches(interface: OspfInterface) -> bool:
    return profile_of(interface) is not None and not interface.passive


def peers(config: RouterConfig) -> tuple[Peer, ...]:
    """Neighbors and next hops that are watched, each once."""
    return tuple(sorted(set(_peers(config.routing))))


def _peers(routing: Routing) -> Iterator[Peer]:
    if not routing.bfd.profiles:
        # Every watch names one; a document has thousands of static routes.
        return
    if routing.bgp is not None:
        yield from _bgp_neighbors_with_bfd(routing.bgp)
    for route in routing.static.values():
        for hop in route.next_hops:
            if (bfd := watched(hop)) is not None and hop.address is not None:
                yield _peer(hop.address, OVER_HOPS if bfd.bfd_multihop else ON_THE_LINK)


def _peer(address: str, form: str) -> Peer:
    return Peer("bfd", str(ip_network(address)), form)


def _bgp_neighbors_with_bfd(bgp: Bgp) -> Iterator[Peer]:
    """bgpd takes a neighbor for distant where it is told of hops, or is internal and on no link of its own.

    The latter is not known here: BFD of an internal neighbor is open in both forms.
    """
    for address, neighbor in bgp.neighbors.items():
        group = bgp.peer_groups.get(neighbor.peer_group) if neighbor.peer_group is not None else None
        if not neighbor.enabled or not (profile_of(neighbor) or profile_of(group)):
            continue
        remote_asn = neighbor.remote_asn or (None if group is None else group.remote_asn)
        distant = _hops(neighbor, group) > 1
        if distant or remote_asn in ("internal", bgp.asn):
            yield _peer(address, OVER_HOPS)
        if not distant:
            yield _peer(address, ON_THE_LINK)


def _hops(neighbor: Neighbor, group: PeerGroup | None) -> int:
    for settings in (neighbor, group):
        if settings is not None and (hops := settings.ebgp_multihop or settings.ttl_security_hops):
            return hops
    return 1
