"""A GRE tunnel as an interface."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from appliance.features.interface.model import LinkSettings
from frr_config.references import InterfaceReference
from frr_config.types import Address


class Gre(LinkSettings):
    """A tunnel to another router: IP packets inside IP packets, with a GRE header (RFC 2784)."""

    is_ethernet: ClassVar[bool] = False
    link_fields: ClassVar[tuple[str, ...]] = ("destination",)

    type: Literal["gre"]
    """Kind of interface."""
    source: Address | InterfaceReference = Field(title="Source")
    """Local end of the tunnel: an address of this router, or an interface, whose first address of the
    destination's family is used.
    """
    destination: Address = Field(title="Destination")
    """Remote end of the tunnel: an address of the other router, IPv4 or IPv6."""
    mtu: int = Field(default=1476, ge=1280, le=9216, title="MTU", json_schema_extra={"unit": "bytes"})
    """Largest IP packet inside the tunnel, in bytes. The outer header and GRE add 24 bytes with IPv4, 44 with
    IPv6.
    """

    @property
    def carrier(self) -> str | None:
        """The interface whose address it begins at, where it is one by name."""
        return None if ":" in self.source or self.source[0].isdecimal() else self.source


KIND = Gre
