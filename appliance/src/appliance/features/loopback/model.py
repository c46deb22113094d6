"""A loopback as an interface."""

from __future__ import annotations

from typing import Literal

from appliance.features.interface.model import InterfaceSettings


class Loopback(InterfaceSettings):
    """A virtual interface that is always up."""

    type: Literal["loopback"]
    """Kind of interface."""


KIND = Loopback
