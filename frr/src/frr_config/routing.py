"""Typed models of what FRRouting is configured with."""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

from pydantic import Field

from frr_config.protocols.bfd.model import Bfd
from frr_config.protocols.bgp.model import Bgp
from frr_config.protocols.ospf.model import Ospf
from frr_config.protocols.policy.model import Policy
from frr_config.protocols.static.model import StaticRoute
from frr_config.types import Model, Prefix

__all__ = ["Bgp", "Ospf", "Policy", "Routing", "StaticRoute", "VrfRouting"]


class VrfRouting(Model):
    """Routing of one VRF: its static routes and its instances of the routing protocols."""

    static: dict[Prefix, StaticRoute] = Field(default_factory=dict, title="Static routes", max_length=100000)
    """Static routes by prefix."""
    bgp: Bgp | None = Field(default=None, title="BGP")
    """Unset means BGP does not run."""
    ospf: Ospf | None = Field(default=None, title="OSPF")
    """Unset means OSPF does not run."""

    def over_tunnels(self, names: Collection[str]) -> Self:
        """The routing as FRR shows it where these interfaces are links between two routers.

        ospfd treats such a link as point-to-point automatically, and then does not show that.
        """
        if self.ospf is None or not any(name in names for name in self.ospf.interfaces):
            return self
        interfaces = {
            name: one.model_copy(update={"network_type": "broadcast"}) if name in names else one
            for name, one in self.ospf.interfaces.items()
        }
        return self.model_copy(update={"ospf": self.ospf.model_copy(update={"interfaces": interfaces})})


class Routing(VrfRouting):
    """Routing of the default VRF, and what all VRFs share."""

    policy: Policy = Field(default_factory=Policy, title="Policy")
    """Prefix lists, AS path lists, community lists and route maps."""
    bfd: Bfd = Field(default_factory=Bfd, title="BFD")
    """Profiles of BFD sessions, which monitor the path to a neighbor."""
