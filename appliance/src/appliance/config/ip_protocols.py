"""IP protocols and ports, as rules name them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

PROTOCOLS: dict[str, int] = {
    "icmp": 1, "igmp": 2, "tcp": 6, "udp": 17, "gre": 47, "esp": 50, "ah": 51, "icmpv6": 58, "ospf": 89,
    "pim": 103, "vrrp": 112, "sctp": 132,
}  # fmt: skip
"""Protocol numbers of the names a rule may use (IANA protocol numbers)."""
_USUAL = ("any", "tcp", "udp", "icmp", "icmpv6")
"""Offered before the others."""


def _port_range(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a port or a range of ports")
    text = str(value) if isinstance(value, int) else value
    return _range_of(text) if isinstance(text, str) else value


@lru_cache(maxsize=1 << 16)  # a document is read again at each edit, and its texts are the same
def _range_of(text: str) -> str:
    match = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", text)
    if match is None:
        raise ValueError("must be a port such as 443 or a range such as 1024-65535")
    low = int(match[1])
    high = int(match[2]) if match[2] is not None else low
    if high > 65535 or low > high:
        raise ValueError("must be a port from 0 to 65535, or a range that goes upwards")
    return str(low) if low == high else f"{low}-{high}"


PortRange = Annotated[str, BeforeValidator(_port_range), Field(examples=["443", "1024-65535"], max_length=11)]
"""A port or an inclusive range of ports."""


def _protocol(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str):
        if value.isdecimal():
            number = int(value)
            if not 1 <= number <= 255:
                raise ValueError("must be a protocol number from 1 to 255")
            for name, known in PROTOCOLS.items():
                if known == number:
                    return name
            return str(number)
        if value != "any" and value not in PROTOCOLS:
            raise ValueError(f"must be any, a number, or one of {', '.join(PROTOCOLS)}")
    return value


Protocol = Annotated[
    str,
    BeforeValidator(_protocol),
    Field(
        examples=["any", "tcp", "icmp", "47"],
        max_length=8,
        json_schema_extra={"x-offers": [*_USUAL, *sorted({*PROTOCOLS} - {*_USUAL})]},
    ),
]
"""An IP protocol by name or number, or ``any``."""
