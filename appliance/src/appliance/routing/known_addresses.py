"""Finds addresses that Linux has and zebra does not, and announces them again.

zebra reads links from one socket and addresses from another. If an interface disappears and returns under its
name while zebra is busy, as when VPP died under a full table, zebra can read the new addresses before the new
link, and drops them: sessions then wait forever for a route to their neighbors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import ip_interface
from typing import Any

from appliance.config.document import RouterConfig
from appliance.dataplane.namespace import Namespace
from appliance.dataplane.rtnetlink import NetlinkError

Address = tuple[str, str]
"""Interface, and address with its prefix length or ``LINK_LOCAL``."""
LINK_LOCAL = "its link-local address"
"""Any link-local address: the document does not say which. Without one bgpd sets up no session over IPv6."""


def untold(known: Mapping[str, Any], config: RouterConfig) -> frozenset[Address]:
    """Addresses of the document's interfaces that zebra's answer ``known`` does not contain.

    An interface that zebra calls down or does not know is left out. Of several addresses of one network zebra
    lists only the first. Pure.
    """
    found = set()
    for name, interface in config.interfaces.items():
        told = known.get(name)
        if not isinstance(told, Mapping) or told.get("status") != "up" or not interface.enabled:
            continue
        networks = {ip_interface(str(text).rstrip("+")).network for text in told.get("addresses", ())}
        found |= {
            (name, str(address))
            for address in map(ip_interface, interface.addresses)
            if address.network not in networks and not address.ip.is_link_local
        }
        if told.get("link_local") is False and any(":" in address for address in interface.addresses):
            found.add((name, LINK_LOCAL))
    return frozenset(found)


def tell(space: Namespace, addresses: Iterable[Address]) -> list[Address]:
    """Have Linux announce those of ``addresses`` that it has to all listeners; returns them.

    Replacing an address by itself changes nothing else. Raises DataPlaneError.
    """
    return space.run(_tell, space, set(addresses))


def _tell(space: Namespace, addresses: set[Address]) -> list[Address]:
    route = space.route()
    names = {link["index"]: link.get_attr("IFLA_IFNAME") for link in route.get_links()}
    told = []
    for message in route.get_addr():
        text = message.get_attr("IFA_LOCAL") or message.get_attr("IFA_ADDRESS")
        address = names.get(message["index"]), f"{text}/{message['prefixlen']}"
        local = ip_interface(address[1]).ip.is_link_local and (address[0], LINK_LOCAL) in addresses
        if not local and address not in addresses:
            continue
        try:
            route.addr("replace", index=message["index"], address=text, prefixlen=message["prefixlen"])
        except NetlinkError:
            # It disappeared just now.
            continue
        told.append((str(address[0]), address[1]))
    return told
