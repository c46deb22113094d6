"""DHCP relays in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address

from appliance.config.document import RouterConfig
from appliance.dataplane.wanted import Wanted
from appliance.features.vrf.model import table_of
from vpp_config import VppObject
from vpp_config.objects.dhcp_relay import DhcpRelay, DhcpServer

PATHS = {DhcpRelay.kind: lambda _table: "/dhcp_relays"}


def objects(wanted: Wanted) -> Iterator[VppObject]:
    """One object for each VRF that has a relay."""
    for relay in wanted.config.dhcp_relays.values():
        server = DhcpServer(IPv4Address(relay.server), table_number(wanted.config, relay.server_vrf))
        source = IPv4Address(relay.source_address)
        yield DhcpRelay(table_number(wanted.config, relay.vrf), source, (server,))


def table_number(config: RouterConfig, vrf: str | None) -> int:
    """The VRF's table in VPP; None is the default VRF."""
    return 0 if vrf is None else table_of(vrf, config.vrfs[vrf])
