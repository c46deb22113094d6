"""Places in the document, as pages say them."""

from __future__ import annotations

import pytest

from webui.ui.setting_words import words_of

_WORDS = {
    "": "the whole document",
    "/acls/guests/rules/30": "access list guests: rule 30",
    "/interfaces/lan0": "interface lan0",
    "/interfaces/lan0/acl_in/0": "interface lan0: ACLs in",
    "/nat/inside/4": "NAT: Inside interfaces",
    "/routing/bgp": "BGP",
    "/routing/bgp/ipv4_unicast/redistribute/static": "BGP: IPv4 unicast, Redistribute, Static",
    "/routing/bgp/neighbors": "BGP: Neighbors",
    "/routing/bgp/neighbors/192.0.2.1/ipv4_unicast/route_map_in": (
        "BGP neighbor 192.0.2.1: IPv4 unicast, Route map in"
    ),
    "/routing/ospf/interfaces/core0/bfd_profile": "OSPF interface core0: BFD profile",
    "/routing/policy/route_maps/a/rules/10/match/prefix_list": (
        "route map a: rule 10, Match, IPv4 prefix list"
    ),
    "/routing/static": "Static routes",
    "/routing/static/198.51.100.0~124/next_hops/0/bfd_profile": (
        "static route 198.51.100.0/24: Next hops, BFD profile"
    ),
    "/vrfs/blue/routing/bgp/neighbors/192.0.2.1/timers": "BGP neighbor 192.0.2.1 in VRF blue: Timers",
    "/what/is/this": "this",
}


@pytest.mark.parametrize("pointer", _WORDS)
def test_a_place_is_told_by_its_object_and_the_titles_of_its_settings(pointer: str) -> None:
    assert words_of(pointer) == _WORDS[pointer]
