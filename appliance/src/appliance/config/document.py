"""The configuration document: the single description of a router."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import Field

from appliance.config.acl_name import AclName
from appliance.features.acl.model import Acl
from appliance.features.dataplane.model import Dataplane
from appliance.features.dhcp_relay.model import DhcpRelays
from appliance.features.interface.model import InterfaceSettings
from appliance.features.nat.model import Nat
from appliance.features.registry import declared
from appliance.features.system.model import System
from appliance.features.vrf.model import MOST_VRFS, Vrf
from frr_config import Routing
from frr_config.types import InterfaceName, Model, VrfName

SCHEMA_VERSION = 1

Kind = TypeVar("Kind", bound=InterfaceSettings)

if TYPE_CHECKING:
    Interface = InterfaceSettings
else:
    Interface = Annotated[reduce(or_, declared("model", "KIND")), Field(discriminator="type")]
    """Any interface; ``type`` says which kind. The features say which kinds there are."""


class RouterConfig(Model):
    """The complete configuration of a router. The API, forms, CLI, validation and plan derive from it."""

    schema_version: Literal[1] = Field(default=1, title="Schema version")
    """Version of this schema; older documents are migrated when they are read."""
    system: System = Field(default_factory=System, title="System")
    """Host settings."""
    dataplane: Dataplane = Field(default_factory=Dataplane, title="Data plane")
    """How packets are forwarded."""
    interfaces: dict[InterfaceName, Interface] = Field(
        default_factory=dict,
        title="Interfaces",
        max_length=4096,
        json_schema_extra={"x-noun": "interface"},
    )
    """Interfaces by name."""
    vrfs: dict[VrfName, Vrf] = Field(
        default_factory=dict, title="VRFs", max_length=MOST_VRFS, json_schema_extra={"x-noun": "VRF"}
    )
    """VRFs by name. Whatever names no VRF is in the default VRF."""
    routing: Routing = Field(default_factory=Routing, title="Routing")
    """Static routes, BGP and OSPF of the default VRF, and the policy that all VRFs share."""
    acls: dict[AclName, Acl] = Field(
        default_factory=dict,
        title="Access lists",
        max_length=4096,
        json_schema_extra={"x-noun": "access list"},
    )
    """Access lists by name."""
    nat: Nat | None = Field(default=None, title="NAT")
    """Address translation (NAT44): inside hosts share outside addresses. Unset means no translation."""
    dhcp_relays: DhcpRelays = Field(default_factory=dict, title="DHCP relays")
    """DHCP relays by name: one for each VRF whose clients have their server elsewhere."""

    def interfaces_of(self, kind: type[Kind]) -> Iterator[tuple[str, Kind]]:
        """The interfaces of one kind, by name."""
        for name, interface in self.interfaces.items():
            if isinstance(interface, kind):
                yield name, interface

    @property
    def main_interfaces(self) -> dict[str, Interface]:
        """The interfaces of the default VRF, the only one in which the router is managed and translates
        addresses; other VRFs may have the same addresses and networks.
        """
        return {name: one for name, one in self.interfaces.items() if one.vrf is None}
