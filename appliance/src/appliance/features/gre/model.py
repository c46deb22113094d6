"""A GRE tunnel as an interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from appliance.features.tunnels.model import Tunnel


class Gre(Tunnel):
    """A tunnel to another router: IP packets inside IP packets, with a GRE header (RFC 2784)."""

    protocols: ClassVar[tuple[int, ...]] = (47,)
    overhead_bytes: ClassVar[Mapping[int, int]] = {4: 24, 6: 44}

    type: Literal["gre"]
    """Kind of interface."""
    mtu: int = Field(default=1476, ge=1280, le=9216, title="MTU", json_schema_extra={"unit": "bytes"})
    """Largest IP packet inside the tunnel, in bytes. The outer header and GRE add 24 bytes with IPv4, 44 with
    IPv6.
    """


KIND = Gre
