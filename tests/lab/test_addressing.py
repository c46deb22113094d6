"""The numbers the lab promises."""

from ipaddress import IPv4Network

from lab import addressing as at


def test_the_wan_announces_a_thousand_prefixes_and_the_hosts_is_one_of_them() -> None:
    assert len(set(at.WAN_PREFIXES_V4)) == 1000
    assert at.WAN_HOST.far_v4.ip in at.WAN_HOST_PREFIX_V4
    assert at.WAN_HOST_PREFIX_V4 in at.WAN_PREFIXES_V4
    assert len(set(at.WAN_PREFIXES_V6)) == 50
    assert at.WAN_HOST.far_v6.ip in at.WAN_HOST_PREFIX_V6


def test_the_core_has_fifty_prefixes_and_the_hosts_is_one_of_them() -> None:
    assert len(set(at.CORE_PREFIXES)) == 50
    assert at.CORE_HOST.far_v4.ip in at.CORE_HOST_PREFIX_V4


def test_no_announced_prefix_overlaps_a_link_of_the_router() -> None:
    links = [link.near_v4.network for link in (at.LAN, at.WAN, at.CORE)]
    announced: list[IPv4Network] = [*at.WAN_PREFIXES_V4, *at.CORE_PREFIXES]
    assert not [(prefix, link) for prefix in announced for link in links if prefix.overlaps(link)]
