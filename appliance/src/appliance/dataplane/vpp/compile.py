"""From the document to VPP's objects. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_interface, ip_network

import vpp_config as vpp
from appliance.config.acl import ALWAYS_PASSED, Acl, AclRule
from appliance.config.document import RouterConfig
from appliance.dataplane.context import CompileContext
from appliance.dataplane.control_plane.compile import compile_control_plane
from appliance.dataplane.linux.compile import flag_bits, port_range, protocol_number
from appliance.dataplane.linux.state import KernelSettings
from appliance.dataplane.linux.sysctl import MIRRORS
from appliance.dataplane.nic import Nic
from appliance.dataplane.vpp import sizing
from appliance.dataplane.vpp.interfaces import Interfaces
from appliance.dataplane.vpp.state import VppDataplaneState
from vpp_config import VppObject, VppState

_ND_TYPES = (133, 137)
_PUNT_PPS, _PUNT_BURST_MS = 50_000, 100
"""What Linux is handed at most, of each family: well above what a full table's BGP session needs."""


def compile_vpp(config: RouterConfig, nics: Mapping[str, Nic], context: CompileContext) -> VppDataplaneState:
    """What VPP has to hold. ``nics`` has the NIC of each ethernet interface.

    Raises ValidationFailed when a NIC cannot be driven as asked.
    """
    return VppDataplaneState(
        VppState.of(_objects(config, nics, context.netns)),
        sizing.settings(config.dataplane, context.machine),
        KernelSettings(MIRRORS),
        compile_control_plane(config),
        {name: tuple(sorted(acl.rules)) for name, acl in config.acls.items()},
    )


def _objects(config: RouterConfig, nics: Mapping[str, Nic], netns: str) -> Iterator[VppObject]:
    interfaces = Interfaces(config, nics)
    bound = False
    yield vpp.PuntPolicer("ipv4", _PUNT_PPS, _PUNT_BURST_MS)
    yield vpp.PuntPolicer("ipv6", _PUNT_PPS, _PUNT_BURST_MS)
    for name, interface in config.interfaces.items():
        yield interfaces.compiled(name, interface)
        yield vpp.LcpPair(name, name, netns)
        for address in interface.addresses:
            yield vpp.Address(name, ip_interface(address))
        if interface.acl_in or interface.acl_out:
            bound = True
            yield vpp.AclBinding(
                name,
                inbound=_lists(config, interface.acl_in),
                outbound=_lists(config, interface.acl_out),
            )
    if bound:
        yield _neighbour_discovery()
    for name, acl in config.acls.items():
        if acl.rules:
            yield _acl(name, acl)


def _lists(config: RouterConfig, names: tuple[str, ...]) -> tuple[str, ...]:
    """Neighbour discovery passes first, as ARP does. An empty list adds nothing: no match still is a drop."""
    return (ALWAYS_PASSED, *(name for name in names if config.acls[name].rules)) if names else ()


def _neighbour_discovery() -> vpp.Acl:
    anywhere = ip_network("::/0")
    return vpp.Acl(
        ALWAYS_PASSED,
        (vpp.AclRule("permit", anywhere, anywhere, protocol=58, icmp_type=_ND_TYPES),),
    )


def _acl(name: str, acl: Acl) -> vpp.Acl:
    return vpp.Acl(name, tuple(_rule(rule) for _, rule in acl.ordered()))


@lru_cache(maxsize=1 << 16)
def _network(text: str) -> IPv4Network | IPv6Network:
    return ip_network(text)


@lru_cache(maxsize=1 << 16)
def _rule(rule: AclRule) -> vpp.AclRule:
    anywhere = "::/0" if rule.family == "ipv6" else "0.0.0.0/0"
    flags = rule.tcp_flags
    return vpp.AclRule(
        rule.action,
        _network(rule.source or anywhere),
        _network(rule.destination or anywhere),
        protocol=protocol_number(rule.protocol),
        source_ports=port_range(rule.source_ports) or vpp.ANY,
        destination_ports=port_range(rule.destination_ports) or vpp.ANY,
        icmp_type=None if rule.icmp_type is None else (rule.icmp_type, rule.icmp_type),
        icmp_code=None if rule.icmp_code is None else (rule.icmp_code, rule.icmp_code),
        tcp_flags=flag_bits(flags.set) if flags else 0,
        tcp_mask=flag_bits(flags.set) | flag_bits(flags.unset) if flags else 0,
    )
