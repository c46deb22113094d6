"""The router's neighbours: two BIRD 2 routers, one speaking BGP, one OSPF.

Both answer BFD, and use it once the router does.
"""

from pathlib import Path

from lab import addressing as at

BIRD = "/usr/sbin/bird"
BFD_INTERVAL_MS, BFD_MULTIPLIER = 100, 5
_BFD = f"""protocol bfd {{
  interface "*" {{ interval {BFD_INTERVAL_MS} ms; multiplier {BFD_MULTIPLIER}; }};
}}"""


def argv(config: Path, control_socket: Path) -> list[str]:
    """The command that runs BIRD in the foreground."""
    return [BIRD, "-f", "-c", str(config), "-s", str(control_socket)]


def wan_config() -> str:
    """AS 65001: announces 1,000 IPv4 and 50 IPv6 prefixes, and accepts everything that the router announces.

    Paths and communities vary from prefix to prefix in a fixed way, so that pages have something to show.
    """
    v4 = "\n".join(
        f"  route {prefix} blackhole {{ {_attributes(index)} }};"
        for index, prefix in enumerate(at.WAN_PREFIXES_V4)
        if prefix != at.WAN_HOST_PREFIX_V4
    )
    v6 = "\n".join(
        f"  route {prefix} blackhole {{ {_attributes(index)} }};"
        for index, prefix in enumerate(at.WAN_PREFIXES_V6)
    )
    return f"""log stderr all;
router id {at.WAN.far_v4.ip};
protocol device {{ scan time 10; }}
{_BFD}
# Its own links are better known than what the router says of them, also to the kernel.
protocol direct {{ ipv4; ipv6; }}
protocol static announced4 {{
  ipv4;
{v4}
}}
protocol static announced6 {{
  ipv6;
{v6}
}}
protocol kernel kernel4 {{
  scan time 10;
  ipv4 {{ import none; export where source = RTS_BGP; }};
}}
protocol kernel kernel6 {{
  scan time 10;
  ipv6 {{ import none; export where source = RTS_BGP; }};
}}
template bgp to_router {{
  local as {at.WAN_AS};
  connect retry time 2;
  error wait time 1, 4;
  connect delay time 1;
  graceful restart on;
  bfd on;
}}
protocol bgp router4 from to_router {{
  neighbor {at.WAN.near_v4.ip} as {at.ROUTER_AS};
  source address {at.WAN.far_v4.ip};
  ipv4 {{ import all; export where source = RTS_STATIC || net = {at.WAN_HOST_PREFIX_V4}; next hop self; }};
}}
protocol bgp router6 from to_router {{
  neighbor {at.WAN.near_v6.ip} as {at.ROUTER_AS};
  source address {at.WAN.far_v6.ip};
  ipv6 {{ import all; export where source = RTS_STATIC; next hop self; }};
}}
"""


def core_config() -> str:
    """OSPFv2, area 0: 50 prefixes (30 in the area, 20 external); IPv6 is routed statically."""
    stubs = "\n".join(
        f"    stubnet {prefix} {{ cost {10 + index}; }};"
        for index, prefix in enumerate(at.CORE_INTRA_PREFIXES)
    )
    externals = "\n".join(f"  route {prefix} blackhole;" for prefix in at.CORE_EXTERNAL_PREFIXES)
    return f"""log stderr all;
router id {at.CORE.far_v4.ip};
protocol device {{ scan time 10; }}
{_BFD}
protocol static external4 {{
  ipv4;
{externals}
}}
protocol kernel kernel4 {{
  scan time 10;
  ipv4 {{ import none; export where source ~ [RTS_OSPF, RTS_OSPF_IA, RTS_OSPF_EXT1, RTS_OSPF_EXT2]; }};
}}
protocol ospf v2 core {{
  ipv4 {{
    import all;
    export filter {{ if proto = "external4" then {{ ospf_metric2 = 100; accept; }} reject; }};
  }};
  area 0 {{
    interface "eth0" {{ type ptp; hello {at.OSPF_HELLO_S}; dead {at.OSPF_DEAD_S}; cost 10; bfd yes; }};
    interface "host0" {{ stub yes; cost 5; }};
{stubs}
  }};
}}
"""


def _attributes(index: int) -> str:
    """The BGP attributes of the index-th announced prefix: up to three more AS hops and a community."""
    hops = [f"bgp_path.prepend({64500 + (index * 7 + hop * 13) % 90});" for hop in range(index % 4)]
    return " ".join([*hops, f"bgp_community.add(({at.WAN_AS}, {100 * (1 + index % 5)}));"])
