"""A memif as an interface."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from appliance.config.nic_match import MacAddress
from appliance.features.interface.model import LinkSettings


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError("is not a power of two")
    return value


PowerOfTwo = Annotated[int, AfterValidator(_power_of_two)]


class Memif(LinkSettings):
    """A link to another process of this machine, by shared memory: a second VPP, a firewall, a generator."""

    takes_vlans: ClassVar[bool] = True
    link_fields: ClassVar[tuple[str, ...]] = ("role", "socket", "id")

    type: Literal["memif"]
    """Kind of interface."""
    role: Literal["master", "slave"] = Field(title="Role")
    """The master listens on the socket, the slave connects to it and says how large the rings are. The
    other end has the other role.
    """
    socket: str = Field(pattern=r"^[a-z][a-z0-9._-]{0,14}$", title="Socket")
    """Name of the socket: the file is memif/NAME.sock in VPP's run directory. One socket can serve many
    interfaces of one role.
    """
    id: int = Field(default=0, ge=0, le=65535, title="Id")
    """Which interface of the socket it is; the same number at both ends."""
    ring_size: PowerOfTwo = Field(default=1024, ge=128, le=16384, title="Ring size")
    """Packets that a ring holds, a power of two. The slave's setting."""
    buffer_size: PowerOfTwo = Field(
        default=2048, ge=2048, le=16384, title="Buffer size", json_schema_extra={"unit": "bytes"}
    )
    """Bytes of a packet's buffer, a power of two; a longer packet takes several. The slave's setting."""
    rx_queues: int = Field(default=1, ge=1, le=16, title="Receive queues")
    """Rings by which packets come in, each worked by one worker. The slave's setting."""
    tx_queues: int = Field(default=1, ge=1, le=16, title="Transmit queues")
    """Rings by which packets go out. The slave's setting."""
    mac: MacAddress | None = Field(default=None, title="MAC address")
    """Unset means one made of role, socket and id: the two ends differ, and it is the same at each start."""

    @property
    def given_mac(self) -> str | None:
        """The one that is set."""
        return self.mac


KIND = Memif
