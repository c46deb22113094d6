"""BFD sessions."""

from __future__ import annotations

from appliance.state.part import Answer, Everything, Part, Table
from frr_config.protocols.bfd.state import BfdSession, bfd_sessions

__all__ = ["BFD", "BfdSession", "BfdState"]


class BfdState(Answer):
    """Every BFD session of the router."""

    sessions: tuple[BfdSession, ...]

    def of(self, peer: str) -> BfdSession | None:
        """The session with a neighbor: one that is up, where there are several."""
        return min(
            (one for one in self.sessions if one.peer == peer),
            key=lambda one: one.state != "up",
            default=None,
        )


BFD = Part(
    "bfd",
    "BFD sessions, their timers, and why they are down.",
    Everything,
    BfdState,
    lambda router, _: BfdState(sessions=router.routing.ask(bfd_sessions)),
    table=Table(
        ("peer", "vrf", "interface", "state", "since_s", "detection_time_ms", "reason"),
        lambda answer: answer.sessions,
    ),
)
