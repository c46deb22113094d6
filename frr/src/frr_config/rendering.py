"""From the document's routing to FRR's lines, exactly as FRR prints them."""

from __future__ import annotations

from frr_config.config import FrrConfig
from frr_config.protocols.bfd.render import bfd_lines
from frr_config.protocols.bgp.render import bgp_lines
from frr_config.protocols.fpm.render import fpm_lines
from frr_config.protocols.ospf.render import ospf_lines
from frr_config.protocols.policy.render import policy_lines
from frr_config.protocols.static.render import static_lines
from frr_config.routing import Routing
from frr_config.version import FrrVersion

__all__ = ["render"]


def render(routing: Routing, version: FrrVersion, *, feeds: bool = False) -> FrrConfig:
    """The configuration of a router with this routing. Raises RenderError for a sealed secret,
    and for what this release cannot do. With ``feeds`` zebra tells a feeder beside it of its routes.
    """
    lines = [
        *fpm_lines(wanted=feeds),
        *bfd_lines(routing.bfd),
        *static_lines(routing.static, version),
        *policy_lines(routing.policy),
    ]
    if routing.bgp is not None:
        lines += bgp_lines(routing.bgp)
    if routing.ospf is not None:
        lines += ospf_lines(routing.ospf)
    return FrrConfig.of(lines, version)
