"""Interfaces as they are now."""

from __future__ import annotations

from pydantic import Field

from appliance.state.part import Answer, Everything, Part, Table


class InterfaceState(Answer):
    """An interface of the document as it is now."""

    name: str
    type: str = Field(description="Kind of interface, such as ethernet, sub_interface or loopback.")
    enabled: bool
    link: str = Field(description="up or down.")
    mac: str | None = None
    mtu: int = Field(description="Bytes of the largest IP packet.")
    addresses: tuple[str, ...] = ()
    speed_bps: int | None = None
    parent: str | None = Field(None, description="Of a sub-interface: the interface it is a VLAN of.")
    vlan_id: int | None = None
    driver: str | None = Field(None, description="How the NIC is driven.")
    device: str | None = Field(None, description="The NIC's own name.")
    note: str | None = Field(None, description="Why the NIC is slower than it could be.")


class Interfaces(Answer):
    """Every interface."""

    interfaces: tuple[InterfaceState, ...]

    @property
    def by_name(self) -> dict[str, InterfaceState]:
        """Each under its name."""
        return {one.name: one for one in self.interfaces}


INTERFACES = Part(
    "interfaces",
    "Links, addresses and MTU of every interface.",
    Everything,
    Interfaces,
    lambda router, _: Interfaces(interfaces=tuple(router.dataplane.interfaces_state())),
    table=Table(
        ("name", "type", "enabled", "link", "mtu", "mac", "addresses"), lambda answer: answer.interfaces
    ),
)
