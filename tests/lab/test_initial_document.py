"""The document a newcomer's router starts with."""

import pytest

from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import check
from lab import addressing as at
from lab.initial_document import build
from lab.namespaces import Dataplane


@pytest.mark.parametrize("dataplane", ["vpp", "linux"])
def test_it_is_valid_at_both_levels(dataplane: Dataplane) -> None:
    assert check(parse_document(build(dataplane)), Capabilities(driver=dataplane)) == []


def test_every_ebgp_session_has_policy_in_and_out() -> None:
    bgp = parse_document(build("linux")).routing.bgp
    assert bgp is not None
    for neighbor in bgp.neighbors.values():
        families = [family for family in (neighbor.ipv4_unicast, neighbor.ipv6_unicast) if family is not None]
        assert families
        assert all(family.route_map_in and family.route_map_out for family in families)


def test_ospf_agrees_with_the_neighbour_on_its_timers() -> None:
    ospf = parse_document(build("linux")).routing.ospf
    assert ospf is not None
    core = ospf.interfaces["core0"]
    assert (core.hello_interval_s, core.dead_interval_s) == (at.OSPF_HELLO_S, at.OSPF_DEAD_S)
