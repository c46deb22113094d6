"""From the document to VPP's objects. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from appliance.config.document import RouterConfig
from appliance.config.vpp_heap import MIB, heap_uses, taken_bytes
from appliance.dataplane.context import CompileContext
from appliance.dataplane.control_plane.compile import compile_control_plane
from appliance.dataplane.linux.state import KernelSettings, LinuxState
from appliance.dataplane.linux.sysctl import MIRRORS
from appliance.dataplane.nic import Nic
from appliance.dataplane.vpp import sizing
from appliance.dataplane.vpp.room import RouteRoom
from appliance.dataplane.vpp.startup import StartupSettings
from appliance.dataplane.vpp.state import VppDataplaneState
from appliance.dataplane.wanted import Wanted
from appliance.features.registry import declared
from vpp_config import VppState
from vpp_config.objects import KINDS

_PORTION_BYTES = 4 * MIB
"""The heap is counted in portions of this size, so that one more rule leaves the number of routes alone."""

_RANKS = {kind: rank for rank, kind in enumerate(KINDS)}
"""Objects come in the order in which VPP is read, regardless of the features' names."""


def compile_vpp(config: RouterConfig, nics: Mapping[str, Nic], context: CompileContext) -> VppDataplaneState:
    """The desired state of VPP. ``nics`` has the NIC of each interface that is one.

    Raises ValidationFailed when a NIC cannot be driven as asked.
    """
    wanted = Wanted(config, nics, context.netns)
    of_features = (item for objects in declared("vpp", "objects") for item in objects(wanted))
    startup = sizing.settings(config.dataplane, context.machine)
    return VppDataplaneState(
        VppState.of(sorted(of_features, key=lambda item: _RANKS[type(item)])),
        startup,
        KernelSettings(MIRRORS),
        compile_control_plane(config),
        LinuxState.of(item for objects in declared("vpp", "beside") for item in objects(wanted)),
        route_room(config, startup),
        {name: tuple(sorted(acl.rules)) for name, acl in config.acls.items()},
    )


def route_room(config: RouterConfig, startup: StartupSettings) -> RouteRoom:
    """How many routes a VPP started with these settings has room for in addition to the document."""
    taken = taken_bytes(heap_uses(config, startup.workers), _PORTION_BYTES)
    return RouteRoom(sizing.most_routes(startup, taken))
