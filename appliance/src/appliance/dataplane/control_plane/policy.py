"""What the router lets in for itself, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.config.services import Opening, OpenLink, Peer

KEY = "control_plane"


@dataclass(frozen=True)
class ControlPlane:
    """What the guarded interfaces let in for the router itself; every tuple is sorted.

    What arrives elsewhere, such as on a management NIC, is not looked at.
    """

    interfaces: tuple[str, ...] = ()
    """Those that are guarded."""
    peers: tuple[Peer, ...] = ()
    links: tuple[OpenLink, ...] = ()
    management: tuple[Opening, ...] = ()
    altered: bool = False
    """Somebody else changed the rules: never so in what is wanted."""

    @property
    def key(self) -> str:
        """There is one."""
        return KEY

    def links_of(self, reason: str) -> tuple[str, ...]:
        """Interfaces on which everybody may use this service."""
        return tuple(link.interface for link in self.links if link.reason == reason)
