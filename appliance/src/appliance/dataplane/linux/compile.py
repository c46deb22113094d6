"""From the document to the desired state of the kernel. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from appliance.config.document import RouterConfig
from appliance.dataplane.linux.objects import KernelSettings
from appliance.dataplane.linux.state import LinuxState
from appliance.dataplane.linux.sysctl import FORWARDING
from appliance.dataplane.nic import Nic
from appliance.dataplane.wanted import Wanted
from appliance.features.registry import declared


def compile_linux(config: RouterConfig, nics: Mapping[str, Nic]) -> LinuxState:
    """The desired state of the linux data plane. ``nics`` has the NIC of each interface that is one."""
    wanted = Wanted(config, nics)
    of_features = (item for objects in declared("linux", "objects") for item in objects(wanted))
    return LinuxState.of((KernelSettings(FORWARDING), *of_features))
