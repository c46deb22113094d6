"""Steps from observed to desired, on the VPP data plane. Pure."""

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
from appliance.dataplane.vpp.state import Mirrored, VppDataplaneState, mirrored
from appliance.features.registry import merged
from vpp_config import VppState
from vpp_config.tokens import interface_name


@dataclass(frozen=True)
class RestartStep:
    """Write VPP's startup file and restart VPP; its whole state is lost and made anew afterwards."""

    before: StartupSettings
    after: StartupSettings
    lost: VppState
    """The state VPP had; undoing restores it."""
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


@dataclass(frozen=True)
class TakeUpStep(vpp_config.Step):
    """VPP adopts a mirror that was kept in Linux while VPP was gone."""

    @property
    def interface(self) -> str:
        """Whose mirror it is."""
        return self.key.removeprefix(_MIRROR)

    @property
    def label(self) -> str:
        """``Linux mirror of wan0``."""
        return f"Linux mirror of {self.interface}"


VppStep = vpp_config.Step | RestartStep | RoomStep | ObjectStep


def mirrored_interface(step: vpp_config.Step) -> str | None:
    """The interface whose mirror the step makes or removes; None if it does neither."""
    return step.key.removeprefix(_MIRROR) if step.key.startswith(_MIRROR) else None


def plan(
    desired: VppDataplaneState, observed: VppDataplaneState, kept: Mirrored | None = None
) -> list[VppStep]:
    """The kernel's settings first, then VPP's objects; all of them if VPP has to be restarted.

    ``kept`` is what the mirrors that outlive VPP show; None if they do not outlive it.
    """
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
    anew = of_vpp
    if kept is not None and kept == mirrored(desired.objects):
        of_vpp, anew = _take_up(of_vpp, desired.objects), ()
    steps += [*of_vpp, *_beside(desired.beside, observed.beside, anew)]
    if steps and observed.startup is not None:
        return [*room_steps(desired.room, observed.room), *steps]
    return steps


def _take_up(steps: Sequence[vpp_config.Step], desired: VppState) -> tuple[vpp_config.Step, ...]:
    """For kept mirrors that show the desired state: each is adopted once its interface is up.

    Any earlier, VPP would take the mirror down with its interface, and FRR would end its sessions there.
    Until then nothing is missing that needs a mirror: the addresses that VPP would copy to it are there.
    """
    interfaces = desired.interfaces()
    last = {step.key: place for place, step in enumerate(steps)}
    places: dict[str, int] = {}
    ordered: list[tuple[int, bool, vpp_config.Step]] = []
    for place, step in enumerate(steps):
        name = mirrored_interface(step)
        if name is None or step.before is not None:
            ordered.append((place, False, step))
            continue
        outer = interface_name(interfaces[name].inside() or "")
        places[name] = max(place, last.get(interfaces[name].key, 0), places.get(outer or "", 0))
        ordered.append((places[name], True, _taken_up(step, steps[places[name]].phase)))
    return tuple(step for *_, step in sorted(ordered, key=lambda one: one[:2]))


def _taken_up(step: vpp_config.Step, phase: Phase) -> TakeUpStep:
    said = f"take up {step.summary.removeprefix('add ')}, which is kept"
    return TakeUpStep(**{**vars(step), "summary": said, "phase": phase})


def _beside(
    desired: LinuxState, observed: LinuxState, of_vpp: Sequence[vpp_config.Step]
) -> Sequence[ObjectStep]:
    """After VPP's own steps: a newly made mirror is in nothing."""
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
