"""From the document's routing to FRR's lines, exactly as FRR prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from frr_config.config import FrrConfig
from frr_config.line import Line
from frr_config.protocols.bfd.render import bfd_lines
from frr_config.protocols.bgp.monitoring import monitoring_lines
from frr_config.protocols.bgp.render import bgp_lines
from frr_config.protocols.fpm.render import fpm_lines
from frr_config.protocols.ospf.render import ospf_lines
from frr_config.protocols.policy.render import policy_lines
from frr_config.protocols.static.render import static_lines
from frr_config.routing import Routing, VrfRouting
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
    and for settings that this release does not support. With ``feeds`` zebra sends its routes to a feeder
    on the same machine; with ``indexed`` bgpd, where it runs, sends those of the default VRF to an index.

    ``vrfs`` is the routing of each VRF by name, ``vrf_of`` the VRF of each interface that is in one.
    ``like`` was rendered before: its knowledge of lines that still exist is reused.
    """
    lines = [
        *fpm_lines(wanted=feeds),
        *bfd_lines(routing.bfd),
        *policy_lines(routing.policy),
        *_of_vrf("", routing, version),
    ]
    if indexed and routing.bgp is not None:
        lines += monitoring_lines(routing.bgp.asn)
    for name, own in (vrfs or {}).items():
        lines += _of_vrf(name, own, version)
    return FrrConfig.of(lines, version, vrf_of, like)


def _of_vrf(name: str, routing: VrfRouting, version: FrrVersion) -> Iterator[Line]:
    yield from static_lines(routing.static, version, name)
    if routing.bgp is not None:
        yield from bgp_lines(routing.bgp, name)
    if routing.ospf is not None:
        yield from ospf_lines(routing.ospf, name)
