"""Static routes as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from frr_config.errors import RenderError
from frr_config.line import Line
from frr_config.protocols.static.model import NextHop, StaticRoute
from frr_config.types import DEFAULT_VRF
from frr_config.version import FrrVersion


def static_lines(routes: Mapping[str, StaticRoute], version: FrrVersion, vrf: str = "") -> Iterator[Line]:
    """``ip route`` and ``ipv6 route`` lines, one for each path. Raises RenderError."""
    context = (f"vrf {vrf}",) if vrf else ()
    for prefix, route in routes.items():
        command = "ipv6 route" if ":" in prefix else "ip route"
        tag = "" if route.tag is None else f" tag {route.tag}"
        if route.blackhole:
            yield Line(context, f"{command} {prefix} blackhole{tag}")
        for hop in route.next_hops:
            distance = "" if hop.distance == 1 else f" {hop.distance}"
            leaks = "" if hop.vrf is None or hop.vrf == (vrf or DEFAULT_VRF) else f" nexthop-vrf {hop.vrf}"
            path = f"{command} {prefix} {_target(hop)}{tag}{distance}{leaks}"
            yield Line(context, f"{path}{_bfd(hop, version)}")


def _target(hop: NextHop) -> str:
    return " ".join(word for word in (hop.address, hop.interface) if word is not None)


def _bfd(hop: NextHop, version: FrrVersion) -> str:
    if hop.bfd_profile is None:
        return ""
    if not version.has_static_bfd:
        raise RenderError(f"FRR {version} cannot watch a static route's next hop with BFD")
    source = "" if hop.bfd_source is None else f" source {hop.bfd_source}"
    return f" bfd{f' multi-hop{source}' if hop.bfd_multihop else ''} profile {hop.bfd_profile}"
