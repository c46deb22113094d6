"""Packets that reach the router itself, on VPP: the same tests as for the linux data plane, and VPP's own
limit.
"""

from __future__ import annotations

import pytest

from tests.integration.linux.conftest import DOCUMENT
from tests.integration.linux.test_control_plane import (
    OWN,
    reached,
    stranger,
    test_a_flood_of_icmp_is_limited_while_the_neighbor_goes_on,
    test_a_large_ping_of_ipv6_is_answered_in_pieces,
    test_a_neighbor_with_ttl_security_is_heard_from_near_only,
    test_a_scan_from_a_data_interface_finds_only_what_the_document_opens,
    test_a_session_and_the_counts_live_through_commits,
    test_an_interface_that_is_not_the_documents_is_left_alone,
    test_management_is_open_where_the_document_says_so_and_to_whom,
    test_ospf_is_heard_only_where_it_speaks,
    test_rules_that_somebody_changed_are_drift_and_come_back,
    test_the_router_reaches_its_neighbors_and_everybody_still_pings_and_traces,
)
from tests.integration.vpp_dataplane.conftest import Router

pytestmark = [pytest.mark.vpp, pytest.mark.root]

__all__ = [
    "stranger",
    "test_a_flood_of_icmp_is_limited_while_the_neighbor_goes_on",
    "test_a_large_ping_of_ipv6_is_answered_in_pieces",
    "test_a_neighbor_with_ttl_security_is_heard_from_near_only",
    "test_a_scan_from_a_data_interface_finds_only_what_the_document_opens",
    "test_a_session_and_the_counts_live_through_commits",
    "test_an_interface_that_is_not_the_documents_is_left_alone",
    "test_management_is_open_where_the_document_says_so_and_to_whom",
    "test_ospf_is_heard_only_where_it_speaks",
    "test_rules_that_somebody_changed_are_drift_and_come_back",
    "test_the_router_reaches_its_neighbors_and_everybody_still_pings_and_traces",
]


def _passed(router: Router) -> dict[str, int]:
    return {row.family: row.passed for row in router.backend.control_plane_state().policers}


def test_what_vpp_hands_to_linux_goes_through_its_limit(router: Router) -> None:
    router.commit(DOCUMENT)
    before = _passed(router)
    for source, own in (("10.77.1.2", OWN[0]), ("2001:db8:77:1::2", OWN[1])):
        assert reached(router.left, source, own, 8080) == {"tcp": [], "udp": []}
    after = _passed(router)
    assert after["ipv4"] >= before["ipv4"] + 3
    assert after["ipv6"] >= before["ipv6"] + 3
