"""The queries that a feature's own part of the live state may make of a data plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    # A machine without VPP does not load its client.
    from vpp_config import VppClient
    from vpp_config.stats import StatsSegment

T = TypeVar("T")


class VppLooking(Protocol):
    """A VPP, over the connection of the views. May raise VppError."""

    @property
    def client(self) -> VppClient:
        """Calls and dumps of the binary API."""

    def names(self) -> Mapping[int, str]:
        """Name of each interface of ours by VPP's index."""

    def read_stats(self, reader: Callable[[StatsSegment], T]) -> T:
        """The result of ``reader`` on VPP's counters in shared memory; it costs VPP nothing."""


class KernelLooking(Protocol):
    """The kernel of the router's namespace, called inside it. May raise NetlinkError."""

    @property
    def route(self) -> Any:
        """The namespace's rtnetlink socket (pyroute2's IPRoute)."""

    def index(self, name: str) -> int | None:
        """The kernel's index of the link with this name; None when there is none."""
