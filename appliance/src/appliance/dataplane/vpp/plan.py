"""Steps from what is to what is wanted, on the VPP data plane. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import vpp_config
from appliance.dataplane.control_plane.step import plan_control_plane
from appliance.dataplane.linux.objects.base import link_token
from appliance.dataplane.linux.plan import plan as plan_linux
from appliance.dataplane.linux.state import KernelSettings, LinuxState
from appliance.dataplane.object_step import ObjectStep, Phase
from appliance.dataplane.vpp.room import RoomStep, room_steps
from appliance.dataplane.vpp.startup import StartupSettings
from appliance.dataplane.vpp.state import VppDataplaneState
from appliance.features.registry import merged
from vpp_config import VppState


@dataclass(frozen=True)
class RestartStep:
    """Write VPP's startup file and start VPP again; everything in it is lost and made anew after it."""

    before: StartupSettings
    after: StartupSettings
    lost: VppState
    """What VPP held; undoing puts it back."""
    phase: Phase = "withdraw"
    impact: str = "restarts vpp"
    path: str = "/dataplane"
    key: Literal["startup"] = "startup"

    @property
    def summary(self) -> str:
        """One line."""
        return f"restart VPP with {_changes(self.before, self.after)}"

    @property
    def undo_summary(self) -> str:
        """One line."""
        return f"restart VPP with {_changes(self.after, self.before)}"


def _changes(before: StartupSettings, after: StartupSettings) -> str:
    return ", ".join(
        f"{field.name.replace('_', ' ')} {getattr(after, field.name)}"
        for field in fields(after)
        if getattr(after, field.name) != getattr(before, field.name)
    )


_MIRROR = f"{vpp_config.LcpPair.kind}/"
VppStep = vpp_config.Step | RestartStep | RoomStep | ObjectStep


def plan(desired: VppDataplaneState, observed: VppDataplaneState) -> list[VppStep]:
    """The kernel's settings first, then VPP's objects; all of them where VPP has to be restarted."""
    steps: list[VppStep] = []
    held = observed.objects
    if desired.startup is not None and observed.startup is not None and desired.startup != observed.startup:
        steps.append(RestartStep(observed.startup, desired.startup, held))
        held = VppState.of(())
    if desired.kernel != observed.kernel:
        steps.append(_kernel_step(observed.kernel, desired.kernel))
    if desired.control_plane is not None:
        steps += plan_control_plane(desired.control_plane, observed.control_plane)
    of_vpp = vpp_config.plan(desired.objects, held, paths=paths([*desired.objects, *held]))
    steps += [*of_vpp, *_beside(desired.beside, observed.beside, of_vpp)]
    if steps and observed.startup is not None:
        return [*room_steps(desired.room, observed.room), *steps]
    return steps


def _beside(
    desired: LinuxState, observed: LinuxState, of_vpp: Sequence[vpp_config.Step]
) -> Sequence[ObjectStep]:
    """After VPP's own steps: a mirror that is made anew is in nothing."""
    made = {
        link_token(step.key.removeprefix(_MIRROR))
        for step in of_vpp
        if step.key.startswith(_MIRROR) and step.after is not None
    }
    left = {
        key: item
        for key, item in observed.items()
        if key not in desired or not made.intersection(item.follows({}))
    }
    return plan_linux(desired, LinuxState(left))


def _kernel_step(before: KernelSettings, after: KernelSettings) -> ObjectStep:
    old = dict(before.values)
    changed = [name for name, value in after.values if old.get(name) != value]
    what = "kernel settings of the mirrors' namespace"
    detail = f": {', '.join(changed[:4])}" if changed else ""
    return ObjectStep(
        "create", f"change {what}{detail}", f"change back {what}", "none", "", after.key, before, after
    )


def paths(keys: list[str]) -> Mapping[str, str]:
    """Where in the document each of VPP's objects comes from."""
    return {key: _path(key) for key in keys}


def _path(key: str) -> str:
    kind, _, rest = key.partition("/")
    path_of = merged("vpp", "PATHS").get(kind)
    return "" if path_of is None else str(path_of(rest.split("/")[0]))
