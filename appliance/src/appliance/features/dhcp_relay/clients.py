"""The interfaces whose clients a relay serves. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_interface

from appliance.config.document import Interface, RouterConfig
from appliance.features.registry import declared


def relayed(config: RouterConfig, vrf: str | None) -> list[str]:
    """Interfaces of the VRF whose clients VPP relays while the VRF has a relay.

    A closed interface lets in no broadcasts.
    """
    shut = shut_to_broadcasts(config)
    return [
        name
        for name, one in config.interfaces.items()
        if one.vrf == vrf and one.link is not None and one.is_ethernet and has_ipv4(one) and name not in shut
    ]


def shut_to_broadcasts(config: RouterConfig) -> Mapping[str, str]:
    """Interfaces that let in only answers and packets to their own addresses, each with what it is."""
    return {name: what for tell in declared("checks", "closed") for name, what in tell(config).items()}


def has_ipv4(interface: Interface) -> bool:
    """Whether it has an IPv4 address."""
    return any(ip_interface(text).version == 4 for text in interface.addresses)
