"""A tunnel as an interface. Each kind declares its protocols and what they add to a packet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from appliance.features.interface.model import LinkSettings
from frr_config.references import InterfaceReference
from frr_config.types import Address


class Tunnel(LinkSettings):
    """IP packets inside IP packets, between two addresses."""

    is_ethernet: ClassVar[bool] = False
    link_fields: ClassVar[tuple[str, ...]] = ("destination",)
    protocols: ClassVar[tuple[int, ...]]
    """Protocols of the outer header, by IANA's numbers."""
    overhead_bytes: ClassVar[Mapping[int, int]]
    """What the tunnel adds to each packet, by the version of the outer IP header."""

    source: Address | InterfaceReference = Field(title="Source")
    """Local end of the tunnel: an address of this router, or an interface, whose first address of the
    destination's family is used.
    """
    destination: Address = Field(title="Destination")
    """Remote end of the tunnel: an address of the other router, IPv4 or IPv6."""

    @property
    def carrier(self) -> str | None:
        """The interface whose address it begins at, where it is one by name."""
        return None if ":" in self.source or self.source[0].isdecimal() else self.source
