"""Kernel settings of the router's namespace."""

from __future__ import annotations

FORWARDING: tuple[tuple[str, str], ...] = (
    ("net/ipv4/conf/all/arp_ignore", "0"),
    ("net/ipv4/conf/all/promote_secondaries", "1"),
    ("net/ipv4/conf/all/rp_filter", "0"),
    ("net/ipv4/conf/all/send_redirects", "0"),
    ("net/ipv4/conf/default/rp_filter", "0"),
    ("net/ipv4/fib_multipath_hash_policy", "1"),
    ("net/ipv4/ip_forward", "1"),
    ("net/ipv6/conf/all/accept_dad", "0"),
    ("net/ipv6/conf/all/accept_ra", "0"),
    ("net/ipv6/conf/all/forwarding", "1"),
    ("net/ipv6/conf/all/keep_addr_on_down", "1"),
    ("net/ipv6/conf/default/accept_dad", "0"),
    ("net/ipv6/conf/default/accept_ra", "0"),
    ("net/ipv6/fib_multipath_hash_policy", "1"),
)
"""The kernel forwards: equal paths are chosen by flow, addresses survive a link that is down, router
advertisements are ignored, and a router's own addresses work at once, as in VPP. ARP is answered for
addresses that are only translated, which no interface has. A namespace starts with the machine's own IPv4
settings, so they are set here."""

MIRRORS: tuple[tuple[str, str], ...] = (
    ("net/ipv4/conf/all/arp_announce", "2"),
    ("net/ipv4/conf/all/arp_ignore", "1"),
    ("net/ipv4/conf/all/promote_secondaries", "1"),
    ("net/ipv4/conf/all/rp_filter", "0"),
    ("net/ipv4/conf/default/rp_filter", "0"),
    ("net/ipv4/ip_forward", "0"),
    ("net/ipv6/conf/all/accept_dad", "0"),
    ("net/ipv6/conf/all/accept_ra", "0"),
    ("net/ipv6/conf/all/forwarding", "0"),
    ("net/ipv6/conf/all/keep_addr_on_down", "1"),
    ("net/ipv6/conf/default/accept_dad", "0"),
    ("net/ipv6/conf/default/accept_ra", "0"),
)
"""VPP forwards and the kernel must not; a mirror answers ARP only for its own addresses."""
