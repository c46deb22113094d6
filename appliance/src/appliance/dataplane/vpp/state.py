"""What the VPP data plane is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from appliance.dataplane.control_plane.policy import ControlPlane
from appliance.dataplane.linux.state import KernelSettings, LinuxState
from appliance.dataplane.vpp.room import RouteRoom
from appliance.dataplane.vpp.startup import StartupSettings
from vpp_config import VppObject, VppState

Mirrored = Mapping[str, VppObject]


def mirrored(state: VppState) -> Mirrored:
    """Of a state what its mirrors show: where it is the same, mirrors that were kept need no change."""
    return {key: item for key, item in state.items() if item.mirrored}


@dataclass(frozen=True)
class VppDataplaneState:
    """VPP's objects, what it was started with, and the sysctls of the namespace its mirrors are in."""

    objects: VppState
    startup: StartupSettings | None
    """None where the startup file is not ours to write."""
    kernel: KernelSettings
    control_plane: ControlPlane | None
    """What the mirrors' namespace lets in; None is read where nothing guards it."""
    beside: LinuxState = field(default_factory=lambda: LinuxState({}))
    """What the mirrors are in, in their namespace."""
    room: RouteRoom | None = None
    """None is read where no feeder answers."""
    sequences: dict[str, tuple[int, ...]] = field(default_factory=dict, compare=False)
    """The rules' sequences of each access list, in order: VPP itself only counts them."""
