"""An IPv4 address that a host can have."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Annotated

from pydantic import AfterValidator, Field

_NO_NETWORK = IPv4Network("0.0.0.0/8")
_RESERVED_FROM = int(IPv4Address("240.0.0.0"))


def host_address(text: str) -> IPv4Address:
    """The address that a text means. Raises ValueError where it is none, or none of a host."""
    try:
        address = IPv4Address(text.strip())
    except ValueError:
        raise ValueError(f"{text!r} is not an IPv4 address") from None
    if (
        address.is_multicast
        or address.is_loopback
        or address in _NO_NETWORK
        or int(address) >= _RESERVED_FROM
    ):
        raise ValueError(f"{address} cannot be the address of a host")
    return address


def _canonical(value: str) -> str:
    return str(host_address(value))


HostAddress = Annotated[
    str, AfterValidator(_canonical), Field(examples=["198.51.100.8"], max_length=15, min_length=7)
]
"""An IPv4 address that a host can have."""
