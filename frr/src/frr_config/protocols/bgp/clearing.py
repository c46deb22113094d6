"""Clearing sessions: bgpd sets them up again, or only exchanges routes again over them."""

from __future__ import annotations

from typing import Literal

from pydantic import TypeAdapter, ValidationError

from frr_config.operation import Operation
from frr_config.types import Address, VrfName

Soft = Literal["in", "out"]
FamilyName = Literal["ipv4_unicast", "ipv6_unicast"]
_ADDRESS: TypeAdapter[str] = TypeAdapter(Address)
_VRF: TypeAdapter[str] = TypeAdapter(VrfName)
_FAMILIES: dict[str, str] = {"ipv4_unicast": "ipv4 unicast ", "ipv6_unicast": "ipv6 unicast "}


def clear(
    neighbor: str | None, soft: Soft | None = None, family: FamilyName | None = None, vrf: str = ""
) -> Operation:
    """Clear the session with a neighbor, or all sessions where ``neighbor`` is None, in the default VRF or in
    ``vrf``.

    ``soft`` keeps the session: ``in`` asks the neighbor for its routes again (RFC 2918) and applies the
    policy to them, ``out`` sends this router's routes again. ``family`` limits a soft clear to one address
    family; a hard clear always covers all families. Raises ValueError for an invalid address or VRF name.
    """
    if family is not None and soft is None:
        raise ValueError("a session is set up anew for all its families")
    where = f"vrf {_VRF.validate_python(vrf)} " if vrf else ""
    who = "*" if neighbor is None else _address(neighbor)
    words = "" if soft is None else f" soft {_one_of(soft, ('in', 'out'))}"
    limit = "" if family is None else _FAMILIES[_one_of(family, tuple(_FAMILIES))]
    return Operation("bgpd", f"clear bgp {where}{limit}{who}{words}")


def _address(text: str) -> str:
    try:
        return _ADDRESS.validate_python(text)
    except ValidationError:
        raise ValueError(f"{text!r} is not the address of a neighbor") from None


def _one_of(word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        raise ValueError(f"{word!r} is none of {', '.join(known)}")
    return word
