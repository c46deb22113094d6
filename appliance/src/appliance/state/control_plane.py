"""Packets for the router itself."""

from __future__ import annotations

from pydantic import Field

from appliance.state.part import Answer, Everything, Part


class GuardedInterface(Answer):
    """Packets for the router itself that came in by one interface."""

    interface: str
    accepted: dict[str, int] = Field({}, description="Packets by what they were accepted as.")
    dropped: dict[str, int] = Field({}, description="Packets by why they were dropped.")


class PuntPolicer(Answer):
    """How many packets of a family VPP hands to Linux."""

    family: str
    rate_pps: int = Field(description="Packets a second above which it drops.")
    passed: int
    dropped: int


class ControlPlaneState(Answer):
    """What guards the router itself; there are policers on the vpp data plane only."""

    interfaces: tuple[GuardedInterface, ...]
    policers: tuple[PuntPolicer, ...]


CONTROL_PLANE = Part(
    "control-plane",
    "Packets for the router itself, accepted and dropped by reason on each data interface.",
    Everything,
    ControlPlaneState,
    lambda router, _: router.dataplane.control_plane_state(),
)
