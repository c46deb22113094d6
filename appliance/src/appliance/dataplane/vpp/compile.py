"""From the document to VPP's objects. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from appliance.config.document import RouterConfig
from appliance.dataplane.context import CompileContext
from appliance.dataplane.control_plane.compile import compile_control_plane
from appliance.dataplane.linux.state import KernelSettings, LinuxState
from appliance.dataplane.linux.sysctl import MIRRORS
from appliance.dataplane.nic import Nic
from appliance.dataplane.vpp import sizing
from appliance.dataplane.vpp.state import VppDataplaneState
from appliance.dataplane.wanted import Wanted
from appliance.features.registry import declared
from vpp_config import VppState


def compile_vpp(config: RouterConfig, nics: Mapping[str, Nic], context: CompileContext) -> VppDataplaneState:
    """What VPP has to hold. ``nics`` has the NIC of each interface that is one.

    Raises ValidationFailed when a NIC cannot be driven as asked.
    """
    wanted = Wanted(config, nics, context.netns)
    return VppDataplaneState(
        VppState.of(item for objects in declared("vpp", "objects") for item in objects(wanted)),
        sizing.settings(config.dataplane, context.machine),
        KernelSettings(MIRRORS),
        compile_control_plane(config),
        LinuxState.of(item for objects in declared("vpp", "beside") for item in objects(wanted)),
        {name: tuple(sorted(acl.rules)) for name, acl in config.acls.items()},
    )
