"""The state of the VPP data plane."""

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
    """The part of a state that its mirrors show: while it is the same, kept mirrors need no change."""
    return {key: item for key, item in state.items() if item.mirrored}


@dataclass(frozen=True)
class VppDataplaneState:
    """VPP's objects, its start settings, and the sysctls of its mirrors' namespace."""

    objects: VppState
    startup: StartupSettings | None
    """None if the startup file is not ours to write."""
    kernel: KernelSettings
    control_plane: ControlPlane | None
    """What the mirrors' namespace lets in; observed as None if nothing guards it."""
    beside: LinuxState = field(default_factory=lambda: LinuxState({}))
    """The objects that the mirrors are in, in their namespace."""
    room: RouteRoom | None = None
    """Observed as None if no feeder answers."""
    sequences: dict[str, tuple[int, ...]] = field(default_factory=dict, compare=False)
    """The rules' sequences of each access list, in order: VPP itself only counts them."""
