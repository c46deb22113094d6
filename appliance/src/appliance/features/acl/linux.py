"""Access lists in the kernel. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.linux.filter_rule import FilterRule
from appliance.dataplane.linux.objects import FilterBinding, FilterList, LinuxObject
from appliance.dataplane.wanted import Wanted
from appliance.features.acl.model import Acl, AclRule
from appliance.features.acl.rule_numbers import flag_bits, port_range, protocol_number


def objects(wanted: Wanted) -> Iterator[LinuxObject]:
    """The lists, and the bindings of each interface."""
    acls = wanted.config.acls
    for name, acl in acls.items():
        yield FilterList(name, tuple(filter_rule(sequence, rule) for sequence, rule in acl.ordered()))
    for name, interface in wanted.config.interfaces.items():
        if interface.acl_in or interface.acl_out:
            bound = {*interface.acl_in, *interface.acl_out}
            reflect = any(reflects(acls[acl]) for acl in bound)
            yield FilterBinding(name, interface.acl_in, interface.acl_out, reflect)


def reflects(acl: Acl) -> bool:
    """Whether a rule of the list lets answers back in."""
    return any(rule.action == "permit_reflect" for rule in acl.rules.values())


def filter_rule(sequence: int, rule: AclRule) -> FilterRule:
    """A rule as the filter has it: a prefix that contains every address is any."""
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
