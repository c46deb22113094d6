"""The configuration document: the single description of a router."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from appliance.config.acl import Acl, AclName
from appliance.config.interfaces import Interface
from appliance.config.system import Dataplane, System
from frr_config import Routing
from frr_config.types import InterfaceName, Model

SCHEMA_VERSION = 1


class RouterConfig(Model):
    """Everything a router is told. The API, forms, CLI, validation and plan derive from it."""

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
    routing: Routing = Field(default_factory=Routing, title="Routing")
    """Static routes, BGP, OSPF and policy."""
    acls: dict[AclName, Acl] = Field(
        default_factory=dict,
        title="Access lists",
        max_length=4096,
        json_schema_extra={"x-noun": "access list"},
    )
    """Access lists by name."""
