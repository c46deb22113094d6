"""Checks of DHCP relays: one for each VRF, an address that the server can answer to, VPP's limits."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from appliance.config.context import Context
from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.errors import Problem
from appliance.features.dhcp_relay.clients import has_ipv4, shut_to_broadcasts
from appliance.features.dhcp_relay.model import DhcpRelay
from appliance.features.registry import declared

_ANSWERS_PORT = 67
_NO_RELAY = "the kernel has no DHCP relay: only the vpp data plane relays DHCP"


def check(context: Context) -> Iterator[Problem]:
    """All checks of DHCP relays."""
    relays = context.config.dhcp_relays
    if relays and context.capabilities.driver != "vpp":
        yield Problem("/dhcp_relays", _NO_RELAY)
        return
    relay_of: dict[str | None, str] = {}
    for name, relay in relays.items():
        path = join(["dhcp_relays", name])
        if (other := relay_of.setdefault(relay.vrf, name)) != name:
            message = f"{other} already relays the clients of {_titled(relay.vrf)}: a VRF has one relay"
            yield Problem(f"{path}/vrf", message)
        yield from _tunnels(context.config, path, relay)
        seen = context.default if relay.server_vrf is None else context.views.get(relay.server_vrf)
        if seen is not None:  # a VRF that does not exist is a problem of the reference
            yield from _ends(seen, path, relay)


def _tunnels(config: RouterConfig, path: str, relay: DhcpRelay) -> Iterator[Problem]:
    """VPP builds the frame of an answer itself, as for a link, and crashes if the answer is for a tunnel."""
    for name, one in config.interfaces.items():
        if one.vrf == relay.vrf and not one.is_ethernet and has_ipv4(one):
            where = _titled(relay.vrf)
            message = (
                f"VPP crashes on a DHCP request from {name}, a tunnel with an IPv4 address in {where}:"
                " put the clients' interfaces into another VRF"
            )
            yield Problem(f"{path}/vrf", message)
            return


def _ends(seen: Context, path: str, relay: DhcpRelay) -> Iterator[Problem]:
    where, source = _titled(relay.server_vrf), relay.source_address
    if (owner := seen.own.get(IPv4Address(relay.server))) is not None:
        yield Problem(f"{path}/server", f"{relay.server} is the router's own address on {owner}")
    if (owner := seen.own.get(IPv4Address(source))) is None:
        message = f"the router has no address {source} in {where}, to which the server would answer"
        yield Problem(f"{path}/source_address", message)
        return
    shut, link = shut_to_broadcasts(seen.config), seen.connected(relay.server)
    if link is not None and link in shut and owner not in shut:
        message = f"{link}, on which the server answers, is {shut[link]}: use an address of {link}"
        yield Problem(f"{path}/source_address", message)
    answers = ("udp", IPv4Address(source), _ANSWERS_PORT)
    for forwarded in declared("checks", "forwarded"):
        if (what := forwarded(seen.config).get(answers)) is not None:
            message = f"{what} takes UDP port {_ANSWERS_PORT} of {source}, to which the server answers"
            yield Problem(f"{path}/source_address", message)


def _titled(vrf: str | None) -> str:
    return f"VRF {vrf}" if vrf else "the default VRF"
