"""From the document's routing to FRR's lines, exactly as FRR prints them."""

from __future__ import annotations

from collections.abc import Mapping

from frr_config.config import FrrConfig
from frr_config.protocols import PROTOCOLS
from frr_config.routing import Routing, VrfRouting
from frr_config.syntax import Wanted
from frr_config.version import FrrVersion

__all__ = ["render"]


def render(
    routing: Routing,
    version: FrrVersion,
    *,
    vrfs: Mapping[str, VrfRouting] | None = None,
    vrf_of: Mapping[str, str] | None = None,
    feeds: bool = False,
    indexed: bool = False,
    like: FrrConfig | None = None,
) -> FrrConfig:
    """The configuration of a router with this routing. Raises RenderError for a sealed secret,
    and for what this release cannot do. With ``feeds`` zebra tells a feeder beside it of its routes; with
    ``indexed`` bgpd, where it runs, tells an index of those of the default VRF.

    ``vrfs`` is the routing of each VRF by name, ``vrf_of`` the VRF of each interface that is in one.
    ``like`` was rendered before: what it knows of lines that are still there is not found out again.
    """
    wanted = Wanted(routing, feeds, indexed)
    lines = [line for protocol in PROTOCOLS for line in protocol.lines(wanted)]
    for name, own in {"": routing, **(vrfs or {})}.items():
        for protocol in PROTOCOLS:
            lines += protocol.lines_of_vrf(own, version, name)
    return FrrConfig.of(lines, version, vrf_of, like)
