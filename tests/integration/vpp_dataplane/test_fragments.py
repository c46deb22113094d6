"""Access lists and packets in pieces, on VPP: what the kernel does alike, and where its plugin differs."""

from __future__ import annotations

import pytest

from tests.integration.linux.pieces import FRAGMENT, TCP, UDP, ipv4, ipv6, piece, tcp
from tests.integration.linux.test_fragments import (
    DENY_SSH,
    V4,
    V6,
    passed,
    test_a_port_is_seen_behind_further_headers_and_in_a_first_piece,
    test_no_piece_passes_a_list_that_permits_nothing,
    test_what_a_list_denies_by_its_port_does_not_come_in_pieces,
)
from tests.integration.vpp_dataplane.conftest import Router

pytestmark = [pytest.mark.vpp, pytest.mark.root]

__all__ = [
    "test_a_port_is_seen_behind_further_headers_and_in_a_first_piece",
    "test_no_piece_passes_a_list_that_permits_nothing",
    "test_what_a_list_denies_by_its_port_does_not_come_in_pieces",
]


def test_later_pieces_match_the_first_rule_of_their_addresses_and_protocol(router: Router) -> None:
    """As docs/access-lists.md says: whatever ports it names."""
    later = {
        1: ipv4(1, V4, UDP, bytes(16), at=16),
        2: ipv4(2, V4, TCP, bytes(16), at=16),
        3: ipv6(3, V6, FRAGMENT, piece(TCP, bytes(16), at=16)),
        4: ipv4(4, V4, TCP, tcp(80) + bytes(4), more=True),
    }
    assert passed(router, DENY_SSH, later) == {1, 4}
    only = {"10": {"action": "permit", "protocol": "udp", "destination_ports": 9999}}
    assert passed(router, only | {"20": {"action": "permit", "protocol": "icmp"}}, later) == {1}
