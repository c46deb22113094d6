"""Every address, prefix and number of the lab, in one place.

::

    mr-lan 10.10.0.2 --- lan0 [router, AS 65000] wan0 --- 192.0.2.1 mr-wan, AS 65001 - 203.0.113.10 mr-wanhost
                                  core0
                                    |
                             10.20.0.2 mr-core, OSPF area 0 --- 10.30.0.10 mr-corehost
"""

from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network, IPv6Interface, IPv6Network


@dataclass(frozen=True)
class Ends:
    """A link: the address of either end, per family."""

    near_v4: IPv4Interface
    near_v6: IPv6Interface
    far_v4: IPv4Interface
    far_v6: IPv6Interface


def _ends(near_v4: str, near_v6: str, far_v4: str, far_v6: str) -> Ends:
    return Ends(IPv4Interface(near_v4), IPv6Interface(near_v6), IPv4Interface(far_v4), IPv6Interface(far_v6))


ROUTER_AS = 65000
WAN_AS = 65001
ROUTER_ID = "10.20.0.1"
OSPF_HELLO_S = 5
OSPF_DEAD_S = 20

# The router's three links: near is the router's end.
LAN = _ends("10.10.0.1/24", "2001:db8:10::1/64", "10.10.0.2/24", "2001:db8:10::2/64")
WAN = _ends("192.0.2.2/30", "2001:db8:20::2/64", "192.0.2.1/30", "2001:db8:20::1/64")
CORE = _ends("10.20.0.1/30", "2001:db8:30::1/64", "10.20.0.2/30", "2001:db8:30::2/64")

# The links behind the neighbours: near is the neighbour's end, far the host.
WAN_HOST = _ends("203.0.113.1/24", "2001:db8:f113::1/64", "203.0.113.10/24", "2001:db8:f113::10/64")
CORE_HOST = _ends("10.30.0.1/24", "2001:db8:130::1/64", "10.30.0.10/24", "2001:db8:130::10/64")

NIC_MAC = {
    "nic-lan": "02:4d:52:00:00:01",
    "nic-wan": "02:4d:52:00:00:02",
    "nic-core": "02:4d:52:00:00:03",
}
"""NIC of the router -> its MAC address (locally administered, so the same in every lab)."""

WAN_HOST_PREFIX_V4 = IPv4Network("203.0.113.0/24")
WAN_HOST_PREFIX_V6 = IPv6Network("2001:db8:f113::/48")

# 1,000 IPv4 and 50 IPv6 prefixes from the WAN: the host's own, and slices of the ranges that RFC 2544 and RFC
# 3849 set apart for tests.
WAN_PREFIXES_V4: tuple[IPv4Network, ...] = (
    WAN_HOST_PREFIX_V4,
    *list(IPv4Network("198.18.0.0/15").subnets(new_prefix=25))[:999],
)
WAN_PREFIXES_V6: tuple[IPv6Network, ...] = (
    WAN_HOST_PREFIX_V6,
    *(IPv6Network(f"2001:db8:f2{index:02x}::/48") for index in range(49)),
)

# 50 OSPF routes from the core: the host's own, 29 within area 0 and 20 external (type 2).
CORE_HOST_PREFIX_V4 = IPv4Network("10.30.0.0/24")
CORE_HOST_PREFIX_V6 = IPv6Network("2001:db8:130::/64")
CORE_INTRA_PREFIXES: tuple[IPv4Network, ...] = tuple(
    IPv4Network(f"10.31.{index}.0/24") for index in range(29)
)
CORE_EXTERNAL_PREFIXES: tuple[IPv4Network, ...] = tuple(
    IPv4Network(f"10.32.{index}.0/24") for index in range(20)
)
CORE_PREFIXES: tuple[IPv4Network, ...] = (CORE_HOST_PREFIX_V4, *CORE_INTRA_PREFIXES, *CORE_EXTERNAL_PREFIXES)
