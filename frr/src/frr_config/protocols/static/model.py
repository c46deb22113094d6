"""Static routes."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from frr_config.protocols.augments import augmented
from frr_config.references import AnyVrf, InterfaceReference
from frr_config.types import Address, Description, Model

NEXT_HOP = "next hop"
"""Where other protocols add settings (``protocols/augments.py``)."""


@augmented(NEXT_HOP)
class NextHop(Model):
    """One path of a static route: an address, an interface, or an address on an interface."""

    address: Address | None = Field(default=None, title="Next hop address")
    """Gateway, of the same family as the prefix."""
    interface: InterfaceReference | None = Field(default=None, title="Interface")
    """Outgoing interface; required where the gateway is an IPv6 link-local address."""
    vrf: AnyVrf | None = Field(default=None, title="Next hop's VRF")
    """VRF of the next hop, if it is not the route's own: packets leak into it."""
    distance: int = Field(default=1, ge=1, le=255, title="Administrative distance")
    """Lower wins; paths of equal distance share the load (ECMP)."""

    @model_validator(mode="after")
    def _has_target(self) -> Self:
        if self.address is None and self.interface is None:
            raise ValueError("a next hop needs an address, an interface, or both")
        return self


class StaticRoute(Model):
    """A static route."""

    next_hops: tuple[NextHop, ...] = Field(default=(), max_length=64, title="Next hops")
    """Paths; several with one distance share the load."""
    blackhole: bool = Field(default=False, title="Blackhole")
    """Silently drop the packets that match."""
    tag: int | None = Field(default=None, ge=1, le=4294967295, title="Tag")
    """Route tag, matched by route maps at redistribution."""
    description: Description = Field(default="", title="Description")
    """Shown beside the route; the routing daemons do not get it."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.blackhole == bool(self.next_hops):
            raise ValueError("give either next_hops or blackhole")
        keys = [(hop.address, hop.interface, hop.vrf) for hop in self.next_hops]
        if len(set(keys)) != len(keys):
            raise ValueError("next_hops names the same path twice")
        return self
