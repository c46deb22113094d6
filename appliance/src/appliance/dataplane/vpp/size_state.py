"""How VPP is sized and why, for the live state. Pure."""

from __future__ import annotations

from dataclasses import asdict

from appliance.config.document import RouterConfig
from appliance.config.vpp_heap import heap_uses
from appliance.dataplane.machine import Machine
from appliance.dataplane.vpp import sizing
from appliance.dataplane.vpp.compile import route_room
from appliance.dataplane.vpp.startup import StartupSettings
from appliance.state.dataplane import DataplaneState, HeapUser, VppSize

_NOT_OURS = "Millrace does not write the startup file of this VPP, whose sizes it does not know."


def size_state(
    config: RouterConfig, machine: Machine | None, started_with: StartupSettings | None
) -> DataplaneState:
    """``started_with`` is what VPP's startup file has; None if that is not ours.

    Raises ValidationFailed where the document asks for more than the machine has.
    """
    dataplane = config.dataplane
    if started_with is None:
        return DataplaneState(driver="vpp", route_scale=dataplane.route_scale, reason=_NOT_OURS)
    choice, sized = sizing.choose(dataplane, machine), sizing.settings(dataplane, machine)
    return DataplaneState(
        driver="vpp",
        route_scale=dataplane.route_scale,
        chosen_route_scale=choice.scale,
        reason=choice.reason,
        memory_mb=None if machine is None else machine.memory_mb,
        room_for_routes=route_room(config, sized).most,
        heap_users=tuple(
            HeapUser(what=use.what, size_bytes=use.size_bytes) for use in heap_uses(config, sized.workers)
        ),
        sized=VppSize(**asdict(sized)),
        started_with=VppSize(**asdict(started_with)),
        restart_due=sized != started_with,
    )
