"""Static routes as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from frr_config.line import Line
from frr_config.protocols.augments import lines_of
from frr_config.protocols.static.model import NEXT_HOP, NextHop, StaticRoute
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
            ends = "".join(f" {text}" for text in lines_of(NEXT_HOP, hop, version))
            yield Line(context, f"{command} {prefix} {_target(hop)}{tag}{distance}{leaks}{ends}")


def _target(hop: NextHop) -> str:
    return " ".join(word for word in (hop.address, hop.interface) if word is not None)
