"""Packets for the router itself."""

from __future__ import annotations

from pydantic import Field

from appliance.state.part import Answer, Everything, Part, PartlyRead

MOST_SOURCES = 200
"""Of a service that are told one by one."""


class RouterService(Answer):
    """Packets of one kind that the router itself takes, and from whom."""

    reason: str = Field(description="What they are called where packets are counted.")
    title: str
    by_source: bool = Field(description="Whether it is opened to addresses.")
    by_interface: bool = Field(description="Whether it is opened to everybody on an interface.")
    sources: tuple[str, ...] = Field((), description="Addresses and prefixes it is open to.")
    more_sources: int = Field(0, description="How many more there are than are listed.")


class GuardedInterface(Answer):
    """What one interface lets in for the router itself, and packets that came in by it."""

    interface: str
    open_services: tuple[str, ...] = Field((), description="Reasons of services that are open to all on it.")
    management_services: tuple[str, ...] = ()
    management_sources: tuple[str, ...] = Field(
        (), description="Prefixes that management is open to; where there is none, to everybody."
    )
    accepted: dict[str, int] = Field({}, description="Packets by what they were accepted as.")
    dropped: dict[str, int] = Field({}, description="Packets by why they were dropped.")


class PuntPolicer(Answer):
    """How many packets of a family VPP hands to Linux."""

    family: str
    rate_pps: int = Field(description="Packets a second above which it drops.")
    passed: int
    dropped: int


class ControlPlaneState(PartlyRead):
    """What guards the router itself; there are policers on the vpp data plane only."""

    services: tuple[RouterService, ...] = ()
    interfaces: tuple[GuardedInterface, ...]
    policers: tuple[PuntPolicer, ...]


CONTROL_PLANE = Part(
    "control-plane",
    "What the router itself takes and from whom; packets accepted and dropped by reason on each interface.",
    Everything,
    ControlPlaneState,
    lambda router, _: router.dataplane.control_plane_state(),
)
