"""The kernel's IP counters, out of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.dataplane.base import DataPlaneError
from appliance.dataplane.kernel_traffic import kernel_traffic

SNMP = """Ip: Forwarding DefaultTTL InReceives ForwDatagrams InDelivers FragFails
Ip: 1 64 1000 700 250 3
Icmp: InMsgs
Icmp: 1
"""
NETSTAT = "TcpExt: SyncookiesSent\nTcpExt: 0\nIpExt: InNoRoutes InTruncatedPkts\nIpExt: 7 0\n"
SNMP6 = "Ip6InReceives                   \t90\nIp6InDelivers\t40\nIp6OutForwDatagrams\t50\nIp6InNoRoutes\t2\n"


def test_what_arrives_to_be_forwarded_is_what_was_not_for_the_router(tmp_path: Path) -> None:
    for name, text in (("snmp", SNMP), ("netstat", NETSTAT), ("snmp6", SNMP6)):
        (tmp_path / name).write_text(text)
    traffic = kernel_traffic({"no rule": 4}, tmp_path)
    assert (traffic.arrived, traffic.forwarded) == ({"ipv4": 750, "ipv6": 50}, {"ipv4": 700, "ipv6": 50})
    assert traffic.dropped == {
        "no route (IPv4)": 7,
        "larger than the MTU (IPv4)": 3,
        "no route (IPv6)": 2,
        "larger than the MTU (IPv6)": 0,
        "no rule": 4,
    }


@pytest.mark.parametrize("text", ["", "Ip: a\n", "Ip: a b\nIp: 1\n"])
def test_a_file_that_is_not_as_it_should_be_is_an_error(tmp_path: Path, text: str) -> None:
    for name, content in (("snmp", text), ("netstat", NETSTAT), ("snmp6", SNMP6)):
        (tmp_path / name).write_text(content)
    with pytest.raises(DataPlaneError):
        kernel_traffic({}, tmp_path)
