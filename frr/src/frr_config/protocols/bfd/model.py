"""Bidirectional forwarding detection (RFC 5880, RFC 5881, RFC 5883)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic.config import JsonDict

from frr_config.references import RefersTo
from frr_config.types import Model, Name

BfdProfileName = Annotated[Name, RefersTo("/routing/bfd/profiles")]
"""Name of a profile that the document has."""

_MS: JsonDict = {"unit": "ms"}
_SHORTEST_MS = 10


class BfdProfile(Model):
    """Parameters of BFD sessions. Neighbors, OSPF interfaces and next hops name a profile.

    Both ends announce their intervals, and the slower value applies: this router sends at its transmit
    interval, or as rarely as the other end asks. The session goes down when no packet has arrived for the
    agreed interval times the other end's multiplier.
    """

    detect_multiplier: int = Field(default=3, ge=2, le=255, title="Detection multiplier")
    """Packets in a row that may be lost before the other end declares the session down."""
    transmit_interval_ms: int = Field(
        default=300, ge=_SHORTEST_MS, le=60000, title="Transmit interval", json_schema_extra=_MS
    )
    """Minimum time between the packets this router sends."""
    receive_interval_ms: int = Field(
        default=300, ge=_SHORTEST_MS, le=60000, title="Receive interval", json_schema_extra=_MS
    )
    """Minimum time between the packets this router can receive."""
    passive: bool = Field(default=False, title="Passive")
    """Wait for the other end to start the session. One end has to be active."""
    minimum_ttl: int = Field(default=254, ge=1, le=254, title="Minimum TTL")
    """For multihop sessions: drop packets with a lower TTL. An eBGP neighbor's own distance takes precedence.
    """
    echo: bool = Field(default=False, title="Echo")
    """Also send packets that the other end forwards back to this router. Single-hop sessions only."""
    echo_transmit_interval_ms: int = Field(
        default=50, ge=_SHORTEST_MS, le=60000, title="Echo transmit interval", json_schema_extra=_MS
    )
    """Minimum time between the echo packets this router sends."""
    echo_receive_interval_ms: int = Field(
        default=50, ge=0, le=60000, title="Echo receive interval", json_schema_extra=_MS
    )
    """Minimum time between the echo packets this router forwards back; 0 asks for none."""

    @model_validator(mode="after")
    def _echo_interval(self) -> Self:
        if 0 < self.echo_receive_interval_ms < _SHORTEST_MS:
            raise ValueError(f"echo_receive_interval_ms must be 0, or at least {_SHORTEST_MS}")
        return self


class Bfd(Model):
    """Bidirectional forwarding detection: how sessions notice that the path to a neighbor has failed."""

    profiles: dict[Name, BfdProfile] = Field(
        default_factory=dict, title="Profiles", max_length=256, json_schema_extra={"x-noun": "BFD profile"}
    )
    """Profiles by name."""
