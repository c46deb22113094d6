"""Interfaces are guarded where packets come in; management is let in where it is opened. Pure.

What tunnels carry belongs to one service, whatever carries it: a kind of tunnel opens it to the other ends,
in the form of its protocol's number.
"""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.document import RouterConfig
from appliance.config.ip_protocols import PROTOCOLS
from appliance.config.services import Form, Guarded, Only, Opening, Protocols, Service

_CARRIERS = (4, 41, 47)
"""Protocols that carry packets of IP in IP."""
_NAMES = {number: name.upper() for name, number in PROTOCOLS.items()} | {4: "IPv4 in IP", 41: "IPv6 in IP"}

SERVICES = (
    Service(
        "tunnel",
        "Tunnel",
        (Protocols(_CARRIERS),),
        forms={
            str(number): Form((Only(Protocols((number,))),), words=_NAMES[number]) for number in _CARRIERS
        },
    ),
)


def opens(config: RouterConfig) -> Iterator[Guarded | Opening]:
    """The interfaces that are guarded, and the services they open."""
    for name, interface in config.interfaces.items():
        link = interface.link
        if link is None:
            continue
        yield Guarded(name)
        for service in link.management_services:
            for source in link.management_sources or ("",):
                yield Opening(name, service, source)
