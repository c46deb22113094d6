"""Static routes as lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from frr_config.line import Line
from frr_config.protocols.static.model import NextHop, StaticRoute


def static_lines(routes: Mapping[str, StaticRoute]) -> Iterator[Line]:
    """``ip route`` and ``ipv6 route`` lines, one for each path."""
    for prefix, route in routes.items():
        command = "ipv6 route" if ":" in prefix else "ip route"
        tag = "" if route.tag is None else f" tag {route.tag}"
        if route.blackhole:
            yield Line((), f"{command} {prefix} blackhole{tag}")
        for hop in route.next_hops:
            distance = "" if hop.distance == 1 else f" {hop.distance}"
            yield Line((), f"{command} {prefix} {_target(hop)}{tag}{distance}")


def _target(hop: NextHop) -> str:
    return " ".join(word for word in (hop.address, hop.interface) if word is not None)
