"""Static routes."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from frr_config.protocols.bfd.model import BfdProfileName
from frr_config.references import AnyVrf, InterfaceReference
from frr_config.types import Address, Model


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
    bfd_profile: BfdProfileName | None = Field(default=None, title="BFD profile")
    """Monitor the path to the next hop with BFD: the path is used only while its BFD session is up."""
    bfd_multihop: bool = Field(default=False, title="BFD over several hops")
    """The next hop is not directly connected (RFC 5883)."""
    bfd_source: Address | None = Field(default=None, title="BFD source")
    """Local address of a multihop session; unset means the address of the outgoing interface."""

    @model_validator(mode="after")
    def _has_target(self) -> Self:
        if self.address is None and self.interface is None:
            raise ValueError("a next hop needs an address, an interface, or both")
        return self

    @model_validator(mode="after")
    def _bfd(self) -> Self:
        if self.bfd_profile is not None and self.address is None:
            raise ValueError("bfd_profile needs the next hop's address")
        if self.bfd_multihop and self.bfd_profile is None:
            raise ValueError("bfd_multihop needs bfd_profile")
        if self.bfd_source is not None and not self.bfd_multihop:
            raise ValueError("bfd_source needs bfd_multihop")
        return self


class StaticRoute(Model):
    """A static route."""

    next_hops: tuple[NextHop, ...] = Field(default=(), max_length=64, title="Next hops")
    """Paths; several with one distance share the load."""
    blackhole: bool = Field(default=False, title="Blackhole")
    """Silently drop the packets that match."""
    tag: int | None = Field(default=None, ge=1, le=4294967295, title="Tag")
    """Route tag, matched by route maps at redistribution."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.blackhole == bool(self.next_hops):
            raise ValueError("give next_hops, or blackhole: true, and not both")
        keys = [(hop.address, hop.interface, hop.vrf) for hop in self.next_hops]
        if len(set(keys)) != len(keys):
            raise ValueError("next_hops names the same path twice")
        return self
