"""Identifies a NIC of the machine."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from frr_config.types import Model

MacAddress = Annotated[
    str,
    StringConstraints(pattern=r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$", to_lower=True),
    Field(examples=["52:54:00:00:00:01"]),
]
"""An EUI-48 address, six octets with colons."""

PciAddress = Annotated[
    str, StringConstraints(pattern=r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$", to_lower=True)
]
"""A PCI address with its domain, such as ``0000:0b:00.0``."""

DeviceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9._-]{0,14}$")]
"""Name of a Linux network device."""


class NicMatch(Model):
    """Which NIC an ethernet interface is: exactly one of these."""

    mac: MacAddress | None = Field(default=None, title="MAC address")
    """The NIC's permanent MAC address."""
    pci: PciAddress | None = Field(default=None, title="PCI address")
    """The NIC's PCI address."""
    device: DeviceName | None = Field(default=None, title="Device")
    """The NIC's Linux name."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(value is not None for value in (self.mac, self.pci, self.device)) != 1:
            raise ValueError("give exactly one of mac, pci and device")
        return self
