"""Clearing adjacencies: ospfd forgets the neighbor, and sets the adjacency up again at its next hello."""

from __future__ import annotations

from ipaddress import IPv4Address

from pydantic import TypeAdapter, ValidationError

from frr_config.operation import Operation
from frr_config.types import InterfaceName, VrfName

_INTERFACE: TypeAdapter[str] = TypeAdapter(InterfaceName)
_VRF: TypeAdapter[str] = TypeAdapter(VrfName)


def clear_neighbor(router_id: str) -> Operation:
    """Clear the adjacencies with this router, in every VRF. Raises ValueError for an invalid router ID."""
    return Operation("ospfd", f"clear ip ospf neighbor {IPv4Address(router_id)}")


def clear_interface(name: str, vrf: str = "") -> Operation:
    """Clear all adjacencies on an interface, which is in the default VRF or in ``vrf``.

    Raises ValueError for an invalid name of either.
    """
    where = f"vrf {_VRF.validate_python(vrf)} " if vrf else ""
    try:
        return Operation("ospfd", f"clear ip ospf {where}interface {_INTERFACE.validate_python(name)}")
    except ValidationError:
        raise ValueError(f"{name!r} is not the name of an interface") from None
