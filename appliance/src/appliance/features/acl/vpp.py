"""Access lists in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import vpp_config as vpp
from appliance.config.context import network
from appliance.config.pointer import join
from appliance.dataplane.wanted import Wanted
from appliance.features.acl.built_in import before_all, interface_of, is_built_in
from appliance.features.acl.model import Acl, AclRule
from appliance.features.acl.rule_numbers import flag_bits, port_range, protocol_number

PATHS = {
    vpp.Acl.kind: lambda name: join(
        ["interfaces", interface_of(name)] if is_built_in(name) else ["acls", name]
    ),
    vpp.AclBinding.kind: lambda name: join(["interfaces", name]),
}
_compiled: dict[str, tuple[Acl, vpp.Acl]] = {}
"""The last of each name."""
_MOST_COMPILED = 1024


def objects(wanted: Wanted) -> Iterator[vpp.VppObject]:
    """The lists, and the bindings of each interface."""
    config = wanted.config
    for name, interface in config.interfaces.items():
        ways = {"in": interface.acl_in, "out": interface.acl_out}
        bound: dict[str, tuple[str, ...]] = {"in": (), "out": ()}
        for way, lists in ways.items():
            if lists:
                first = before_all(name, way, interface.addresses, {one: config.acls[one] for one in lists})
                yield first
                # An empty list adds nothing: no match is still a drop.
                bound[way] = (first.name, *(one for one in lists if config.acls[one].rules))
        if any(bound.values()):
            yield vpp.AclBinding(name, inbound=bound["in"], outbound=bound["out"])
    for name, acl in config.acls.items():
        if acl.rules:
            yield _acl(name, acl)


def _acl(name: str, acl: Acl) -> vpp.Acl:
    """An unchanged list or rule, which is then the same object, gives the same object again."""
    known = _compiled.get(name)
    if known is None or known[0] is not acl:
        known = acl, vpp.Acl(name, tuple(_rules(acl, known)))
        if len(_compiled) >= _MOST_COMPILED:
            _compiled.clear()
        _compiled[name] = known
    return known[1]


def _rules(acl: Acl, known: tuple[Acl, vpp.Acl] | None) -> list[vpp.AclRule]:
    """Rules shared with the last list of this name are taken from there."""
    made: dict[int, vpp.AclRule] = {}
    before: Mapping[int, AclRule] = {}
    if known is not None:
        before, made = known[0].rules, dict(zip(sorted(known[0].rules), known[1].rules, strict=True))
    rules = acl.rules
    return [
        made[sequence] if before.get(sequence) is rules[sequence] else _rule(rules[sequence])
        for sequence in sorted(rules)
    ]


@lru_cache(maxsize=1 << 16)
def _rule(rule: AclRule) -> vpp.AclRule:
    anywhere = "::/0" if rule.family == "ipv6" else "0.0.0.0/0"
    flags = rule.tcp_flags
    made = vpp.AclRule(
        rule.action,
        network(rule.source or anywhere),
        network(rule.destination or anywhere),
        protocol=protocol_number(rule.protocol),
        source_ports=port_range(rule.source_ports) or vpp.ANY,
        destination_ports=port_range(rule.destination_ports) or vpp.ANY,
        icmp_type=None if rule.icmp_type is None else (rule.icmp_type, rule.icmp_type),
        icmp_code=None if rule.icmp_code is None else (rule.icmp_code, rule.icmp_code),
        tcp_flags=flag_bits(flags.set) if flags else 0,
        tcp_mask=flag_bits(flags.set) | flag_bits(flags.unset) if flags else 0,
    )
    return vpp.shared_rule(made)
