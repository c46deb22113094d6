"""A memif as an interface."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from appliance.config.nic_match import MacAddress
from appliance.features.interface.model import LinkSettings


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError("must be a power of two")
    return value


PowerOfTwo = Annotated[int, AfterValidator(_power_of_two)]


class Memif(LinkSettings):
    """A shared-memory link to another process on this machine: a second VPP, a firewall, a generator."""

    takes_vlans: ClassVar[bool] = True
    link_fields: ClassVar[tuple[str, ...]] = ("role", "socket", "id")

    type: Literal["memif"]
    """Kind of interface."""
    role: Literal["master", "slave"] = Field(title="Role")
    """The master listens on the socket; the slave connects to it and decides the size of the rings. The other
    end has the other role.
    """
    socket: str = Field(pattern=r"^[a-z][a-z0-9._-]{0,14}$", title="Socket")
    """Name of the socket: the file is memif/NAME.sock in VPP's run directory. One socket can serve many
    interfaces of the same role.
    """
    id: int = Field(default=0, ge=0, le=65535, title="Id")
    """Number of the interface on its socket; the same at both ends."""
    ring_size: PowerOfTwo = Field(default=1024, ge=128, le=16384, title="Ring size")
    """Number of packets that a ring holds, a power of two. Set at the slave."""
    buffer_size: PowerOfTwo = Field(
        default=2048, ge=2048, le=16384, title="Buffer size", json_schema_extra={"unit": "bytes"}
    )
    """Size of a packet buffer in bytes, a power of two; a longer packet takes several. Set at the slave."""
    rx_queues: int = Field(default=1, ge=1, le=16, title="Receive queues")
    """Number of rings for received packets, each served by one worker. Set at the slave."""
    tx_queues: int = Field(default=1, ge=1, le=16, title="Transmit queues")
    """Number of rings for sent packets. Set at the slave."""
    mac: MacAddress | None = Field(default=None, title="MAC address")
    """Unset means one derived from role, socket and id: it differs between the two ends and is the same at
    each start.
    """

    @property
    def given_mac(self) -> str | None:
        """The one that is set."""
        return self.mac


KIND = Memif
