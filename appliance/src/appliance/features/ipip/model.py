"""A tunnel of IP in IP as an interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from appliance.features.tunnels.model import Tunnel


class Ipip(Tunnel):
    """A tunnel to another router: IPv4 and IPv6 packets directly inside IP packets (RFC 2003, 2473). Over
    IPv4 it is what providers of IPv6 call 6in4 (RFC 4213).
    """

    protocols: ClassVar[tuple[int, ...]] = (4, 41)
    overhead_bytes: ClassVar[Mapping[int, int]] = {4: 20, 6: 40}

    type: Literal["ipip"]
    """Kind of interface."""
    mtu: int = Field(default=1480, ge=1280, le=9216, title="MTU", json_schema_extra={"unit": "bytes"})
    """Largest IP packet inside the tunnel, in bytes. The outer header adds 20 bytes with IPv4, 40 with IPv6.
    """


KIND = Ipip
