"""From the document to the kernel's links, addresses and filters. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from appliance.config.acl import PROTOCOLS, Acl, AclRule
from appliance.config.document import RouterConfig
from appliance.dataplane.control_plane.compile import compile_control_plane
from appliance.dataplane.linux.filter_rule import FilterRule
from appliance.dataplane.linux.interfaces import link
from appliance.dataplane.linux.objects import (
    ControlPlane,
    FilterBinding,
    FilterList,
    KernelSettings,
    LinkAddress,
    LinuxObject,
)
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.linux.sysctl import FORWARDING
from appliance.dataplane.nic import Nic

TCP_FLAGS = {"fin": 0x01, "syn": 0x02, "rst": 0x04, "psh": 0x08, "ack": 0x10, "urg": 0x20}
"""Bits of the TCP header's flags (RFC 9293)."""


def compile_linux(config: RouterConfig, nics: Mapping[str, Nic]) -> LinuxState:
    """What the linux data plane has to hold. ``nics`` has the NIC of each ethernet interface."""
    return LinuxState.of(_objects(config, nics))


def _objects(config: RouterConfig, nics: Mapping[str, Nic]) -> Iterator[LinuxObject]:
    yield KernelSettings(FORWARDING)
    yield ControlPlane.of(compile_control_plane(config))
    for name, acl in config.acls.items():
        yield FilterList(name, tuple(filter_rule(sequence, rule) for sequence, rule in acl.ordered()))
    for name, interface in config.interfaces.items():
        yield link(name, interface, nics)
        for address in interface.addresses:
            yield LinkAddress(name, address)
        if interface.acl_in or interface.acl_out:
            bound = {*interface.acl_in, *interface.acl_out}
            reflect = any(reflects(config.acls[acl]) for acl in bound)
            yield FilterBinding(name, interface.acl_in, interface.acl_out, reflect)


def reflects(acl: Acl) -> bool:
    """Whether a rule of the list lets answers back in."""
    return any(rule.action == "permit_reflect" for rule in acl.rules.values())


def protocol_number(name: str) -> int:
    """0 for any."""
    if name == "any":
        return 0
    return PROTOCOLS[name] if name in PROTOCOLS else int(name)


def flag_bits(names: tuple[str, ...]) -> int:
    """TCP flags as bits."""
    return sum(TCP_FLAGS[name] for name in names)


def port_range(text: str | None) -> tuple[int, int] | None:
    """``443`` or ``1024-65535`` as an inclusive range."""
    if text is None:
        return None
    low, _, high = text.partition("-")
    return int(low), int(high or low)


def filter_rule(sequence: int, rule: AclRule) -> FilterRule:
    """A rule as the filter sees it: a prefix that holds every address is any."""
    flags = rule.tcp_flags
    return FilterRule(
        sequence,
        rule.action,
        rule.family,
        None if rule.source is None or rule.source.endswith("/0") else rule.source,
        None if rule.destination is None or rule.destination.endswith("/0") else rule.destination,
        protocol_number(rule.protocol),
        port_range(rule.source_ports),
        port_range(rule.destination_ports),
        rule.icmp_type,
        rule.icmp_code,
        flag_bits(flags.set) if flags else 0,
        flag_bits(flags.unset) if flags else 0,
    )
