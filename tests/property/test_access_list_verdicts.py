"""The verdict on a packet against an oracle that reads the rules' words one by one."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.config.ip_protocols import PROTOCOLS
from appliance.features.acl.compared import compare, lets_through, passes_all
from appliance.features.acl.evaluate import Direction, Rules, is_unconditional
from appliance.features.acl.model import Acl, AclRule, TcpFlags
from appliance.features.acl.rule_numbers import TCP_FLAGS
from appliance.impact.needed import Packet

pytestmark = pytest.mark.property

ADDRESSES = {
    "ipv4": [ip_address(text) for text in ("10.0.0.1", "10.0.0.200", "10.1.0.1", "192.0.2.1", "224.0.0.5")],
    "ipv6": [ip_address(text) for text in ("2001:db8::1", "2001:db8::ffff", "2001:db9::1", "ff02::5")],
}
PREFIXES = {
    "ipv4": ["0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/24", "10.0.0.128/25", "10.0.0.1/32", "192.0.2.0/24"],
    "ipv6": ["::/0", "2001:db8::/32", "2001:db8::1/128", "2001:db9::/32"],
}
FLAGS = [TcpFlags(set=("syn",)), TcpFlags(set=("ack",), unset=("syn",))]
PORTS = ["1-65535", "0-65535", "179", "100-200", "49152", "0"]


@st.composite
def rules(draw: st.DrawFn) -> AclRule:
    """A rule near the packets below."""
    family: Literal["ipv4", "ipv6"] = draw(st.sampled_from(["ipv4", "ipv6"]))
    icmp = "icmp" if family == "ipv4" else "icmpv6"
    protocol = draw(st.sampled_from(["any", "any", "tcp", "udp", icmp, "ospf", "6"]))
    ports = st.none() | st.sampled_from(PORTS)
    has_ports, has_type = protocol in ("tcp", "udp"), protocol == icmp
    icmp_type = draw(st.none() | st.sampled_from([0, 8, 128, 135])) if has_type else None
    flags = draw(
        st.none() | st.sampled_from([TcpFlags(set=("syn",)), TcpFlags(set=("ack",), unset=("syn",))])
    )
    return AclRule(
        action=draw(st.sampled_from(["permit", "deny", "permit_reflect"])),
        family=family,
        source=draw(st.none() | st.sampled_from(PREFIXES[family])),
        destination=draw(st.none() | st.sampled_from(PREFIXES[family])),
        protocol=protocol,
        source_ports=draw(ports) if has_ports else None,
        destination_ports=draw(ports) if has_ports else None,
        icmp_type=icmp_type,
        icmp_code=draw(st.none() | st.sampled_from([0, 1])) if icmp_type is not None else None,
        tcp_flags=flags if protocol == "tcp" else None,
    )


@st.composite
def packets(draw: st.DrawFn) -> Packet:
    """A packet near the rules above."""
    family = draw(st.sampled_from(["ipv4", "ipv6"]))
    protocol = draw(st.sampled_from([6, 17, 89, 1 if family == "ipv4" else 58]))
    ported, icmp = protocol in (6, 17), protocol in (1, 58)
    port = st.sampled_from([0, 100, 179, 49152, 65535])
    return Packet(
        draw(st.sampled_from(ADDRESSES[family][:3])),
        draw(st.sampled_from(ADDRESSES[family])),
        protocol,
        draw(port) if ported else 0,
        draw(port) if ported else 0,
        draw(st.sampled_from([0x02, 0x10, 0x12])) if protocol == 6 else 0,
        draw(st.sampled_from([0, 8, 128, 133, 135, 137])) if icmp else 0,
        draw(st.sampled_from([0, 1])) if icmp else 0,
    )


def oracle(acl: Acl, packet: Packet, direction: Direction) -> bool:
    """Whether it passes, said slowly."""
    if packet.protocol == 58 and packet.icmp_type in (133, 134, 135, 136, 137):
        return True
    if direction == "in" and packet.destination.is_multicast:
        return True
    for sequence in sorted(acl.rules):
        if _is_for(acl.rules[sequence], packet):
            return acl.rules[sequence].action != "deny"
    return False


def _is_for(rule: AclRule, packet: Packet) -> bool:
    if (rule.family == "ipv6") != (packet.source.version == 6):
        return False
    for prefix, address in ((rule.source, packet.source), (rule.destination, packet.destination)):
        if prefix is not None and address not in ip_network(prefix):
            return False
    if rule.protocol != "any":
        number = PROTOCOLS.get(rule.protocol) or int(rule.protocol)
        if number != packet.protocol:
            return False
    for ports, port in (
        (rule.source_ports, packet.source_port),
        (rule.destination_ports, packet.destination_port),
    ):
        if ports is not None:
            ends = [int(end) for end in ports.split("-")]
            if not ends[0] <= port <= ends[-1]:
                return False
    if rule.icmp_type is not None and rule.icmp_type != packet.icmp_type:
        return False
    if rule.icmp_code is not None and rule.icmp_code != packet.icmp_code:
        return False
    flags = rule.tcp_flags
    return flags is None or (
        all(packet.tcp_flags & TCP_FLAGS[name] for name in flags.set)
        and not any(packet.tcp_flags & TCP_FLAGS[name] for name in flags.unset)
    )


LISTS = st.dictionaries(st.integers(1, 40), rules(), max_size=6).map(lambda known: Acl(rules=known))
WAYS = st.sampled_from(["in", "out"])


@settings(max_examples=400, deadline=None)
@given(acl=LISTS, packet=packets(), direction=WAYS)
def test_the_verdict_is_the_oracle_s(acl: Acl, packet: Packet, direction: Direction) -> None:
    assert Rules(("a",), {"a": acl}).verdict(packet, direction).passes == oracle(acl, packet, direction)


@settings(max_examples=400, deadline=None)
@given(acl=LISTS, packet=packets())
def test_what_is_said_of_a_whole_family_holds_for_each_packet(acl: Acl, packet: Packet) -> None:
    listed = Rules(("a",), {"a": acl})
    family = "ipv6" if packet.source.version == 6 else "ipv4"
    always = packet.protocol == 58 and 133 <= packet.icmp_type <= 137
    passes = oracle(acl, packet, "out")
    if not lets_through(listed.of(family)) and not always:
        assert not passes
    if passes_all(listed.of(family)):
        assert passes
    for placed in listed.of(family):
        if is_unconditional(placed.rule):
            assert _is_for(placed.rule, packet)


@settings(max_examples=300, deadline=None)
@given(before=LISTS, after=LISTS, packet=packets())
def test_a_packet_that_is_newly_dropped_is_never_passed_over(before: Acl, after: Acl, packet: Packet) -> None:
    family = "ipv6" if packet.source.version == 6 else "ipv4"
    if oracle(before, packet, "out") and not oracle(after, packet, "out"):
        old, new = (Rules(("a",), {"a": acl}).of(family) for acl in (before, after))
        said = compare(old, new, family)
        assert said.why_all_dropped or said.dropped
