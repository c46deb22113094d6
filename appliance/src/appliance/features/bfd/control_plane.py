"""BFD is let in from whom it watches, and from the links on which OSPF looks for its neighbors. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from appliance.config.document import RouterConfig
from appliance.config.services import Form, Only, OpenLink, Peer, Ports, Service
from frr_config import Routing
from frr_config.protocols.bfd.augments import profile_of, watched
from frr_config.protocols.bgp.effective import peers_in
from frr_config.protocols.bgp.model import Bgp
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
    for peer in peers_in(bgp):
        if not peer.own.enabled or not (profile_of(peer.own) or profile_of(peer.group)):
            continue
        distant = peer.hops > 1
        if distant or peer.is_internal:
            yield _peer(peer.address, OVER_HOPS)
        if not distant:
            yield _peer(peer.address, ON_THE_LINK)
