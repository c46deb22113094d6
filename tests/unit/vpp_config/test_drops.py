"""Names of VPP's error counters, taken apart."""

from __future__ import annotations

import pytest

from vpp_config.counters import node_of


@pytest.mark.parametrize(
    ("counted", "node"),
    [
        ("ip4-input/ip4 ttl <= 1", "ip4-input"),
        ("adl-input/Allow/Deny packets processed", "adl-input"),
        ("tcp4-input/inconsistent ip/tcp lengths", "tcp4-input"),
        ("host-nic-wan-output/interface is down", "host-nic-wan-output"),
        ("memif2147496445/0-output/interface is down", "memif2147496445/0-output"),
        ("GigabitEthernet0/8/0-tx/Tx packet drops (dpdk tx failure)", "GigabitEthernet0/8/0-tx"),
        ("GigabitEthernetb/0/0-output/interface is down", "GigabitEthernetb/0/0-output"),
        ("null-node", "null-node"),
    ],
)
def test_the_node_of_a_counter(counted: str, node: str) -> None:
    assert node_of(counted) == node
