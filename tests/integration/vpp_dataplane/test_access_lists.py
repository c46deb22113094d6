"""The effect of access lists on packets, on VPP: the same tests as for the linux data plane."""

from __future__ import annotations

import pytest

from tests.integration.linux.test_access_lists import (
    test_a_denied_ping_stops_is_counted_and_returns,
    test_an_empty_list_denies_everything,
    test_every_kind_of_rule_reads_back_as_itself,
    test_hits_of_other_rules_stay_when_one_changes,
    test_lists_apply_to_what_the_router_itself_sends,
    test_lists_are_looked_at_in_their_order,
    test_nothing_matching_is_dropped_but_neighbour_discovery,
    test_reflected_answers_come_back_and_nothing_else,
)

pytestmark = [pytest.mark.vpp, pytest.mark.root]

__all__ = [
    "test_a_denied_ping_stops_is_counted_and_returns",
    "test_an_empty_list_denies_everything",
    "test_every_kind_of_rule_reads_back_as_itself",
    "test_hits_of_other_rules_stay_when_one_changes",
    "test_lists_apply_to_what_the_router_itself_sends",
    "test_lists_are_looked_at_in_their_order",
    "test_nothing_matching_is_dropped_but_neighbour_discovery",
    "test_reflected_answers_come_back_and_nothing_else",
]
