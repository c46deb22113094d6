"""Virtual routing and forwarding (RFC 4364, section 3): tables that know nothing of each other."""

from __future__ import annotations

from zlib import crc32

from pydantic import Field, field_validator

from frr_config import VrfRouting
from frr_config.types import Description, Model

MOST_VRFS = 1024
_FIRST_DERIVED = 1_000_000
_DERIVED = 1 << 30
_OF_LINUX = range(253, 256)
"""Tables default, main and local."""


class Vrf(Model):
    """A routing table of its own. Each interface names the VRF it is in."""

    description: Description = Field(default="", title="Description")
    """Shown beside the VRF."""
    table: int | None = Field(default=None, ge=1, lt=_FIRST_DERIVED, title="Table")
    """Number of the VRF's table in the kernel and in VPP; unset means one derived from the name alone."""
    routing: VrfRouting = Field(default_factory=VrfRouting, title="Routing")
    """Static routes and routing protocols of the VRF. Policy and profiles are those of the router."""

    @field_validator("table")
    @classmethod
    def _free(cls, table: int | None) -> int | None:
        if table in _OF_LINUX:
            raise ValueError(f"{table} is a table that Linux uses itself")
        return table


def table_of(name: str, vrf: Vrf) -> int:
    """The number of its table. It does not change when other VRFs come and go."""
    return _FIRST_DERIVED + crc32(name.encode()) % _DERIVED if vrf.table is None else vrf.table
