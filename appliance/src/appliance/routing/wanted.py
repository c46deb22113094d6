"""FRR's configuration: the desired state of its backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from appliance.config.document import RouterConfig
from frr_config import FrrConfig, FrrVersion, Routing, VrfRouting, render


@dataclass(frozen=True)
class WantedRouting:
    """The routing of all VRFs of a document."""

    routing: Routing
    vrfs: Mapping[str, VrfRouting] = field(default_factory=dict)
    """Of each VRF but the default one, by name."""
    vrf_of: Mapping[str, str] = field(default_factory=dict)
    """The VRF of each interface that is in one."""
    tunnels: frozenset[str] = frozenset()
    """Interfaces that are links between two routers."""

    @classmethod
    def of(cls, config: RouterConfig) -> WantedRouting:
        """Of a document."""
        return cls(
            config.routing,
            {name: vrf.routing for name, vrf in config.vrfs.items()},
            {name: one.vrf for name, one in config.interfaces.items() if one.vrf is not None},
            frozenset(name for name, one in config.interfaces.items() if not one.is_ethernet),
        )

    def is_same(self, other: WantedRouting) -> bool:
        """Whether it is the same object, which is decided without comparing contents."""
        return (
            self.routing is other.routing
            and self.vrf_of == other.vrf_of
            and self.tunnels == other.tunnels
            and self.vrfs.keys() == other.vrfs.keys()
            and all(own is other.vrfs[name] for name, own in self.vrfs.items())
        )

    def render(
        self, version: FrrVersion, *, feeds: bool, indexed: bool = False, like: FrrConfig | None = None
    ) -> FrrConfig:
        """FRR's lines, with those for a feeder and an index of routes if present. Raises RenderError.

        ``like`` is an earlier rendering, which saves work.
        """
        vrfs = {name: own.over_tunnels(self.tunnels) for name, own in self.vrfs.items()}
        routing = self.routing.over_tunnels(self.tunnels)
        return render(
            routing, version, vrfs=vrfs, vrf_of=self.vrf_of, feeds=feeds, indexed=indexed, like=like
        )
