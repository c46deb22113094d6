"""From the document to what the router lets in for itself. Pure."""

from __future__ import annotations

from dataclasses import replace

from appliance.config.document import RouterConfig
from appliance.config.services import Guarded, Opening, OpenLink, Peer, opened
from appliance.config.vrf_view import views
from appliance.dataplane.control_plane.policy import ControlPlane


def compile_control_plane(config: RouterConfig) -> ControlPlane:
    """What the features open, and where packets are looked at."""
    interfaces: set[str] = set()
    peers: set[Peer] = set()
    links: set[OpenLink] = set()
    management: set[Opening] = set()
    for vrf, seen in views(config):
        for one in opened(seen):
            match one:
                case Peer():
                    peers.add(one)
                case Opening():
                    management.add(one)
                # What comes in by an interface of a VRF is seen to come in by the VRF's device, but for
                # link-local packets.
                case OpenLink():
                    links |= {one, replace(one, interface=vrf)} if vrf else {one}
                case Guarded():
                    interfaces |= {one.interface, vrf} if vrf else {one.interface}
    return ControlPlane(
        tuple(sorted(interfaces)), tuple(sorted(peers)), tuple(sorted(links)), tuple(sorted(management))
    )
