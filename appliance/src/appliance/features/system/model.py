"""Host settings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from frr_config.types import Address, Model, PlainText

HostName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$")]
"""One label of a host name (RFC 1123)."""

DomainName = Annotated[
    str,
    StringConstraints(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",
        max_length=253,
    ),
]
"""A domain name (RFC 1123)."""

TimeZone = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]+(/[A-Za-z0-9_+-]+){0,2}$", max_length=64)]
"""A zone of the IANA database, such as ``Europe/Oslo``."""


class System(Model):
    """The host around the router."""

    hostname: HostName = Field(default="millrace", title="Host name")
    """Name of this router."""
    domain: DomainName | None = Field(default=None, title="Domain")
    """Domain appended to the host name."""
    timezone: TimeZone = Field(default="UTC", title="Time zone")
    """IANA time zone of logs on the console."""
    banner: PlainText = Field(default="", title="Banner")
    """Shown before login on ssh and the console."""
    dns_servers: tuple[Address, ...] = Field(default=(), max_length=3, title="DNS servers")
    """Resolvers of the management plane, at most three (resolv.conf's limit)."""
    ntp_servers: tuple[Address | DomainName, ...] = Field(default=(), max_length=8, title="NTP servers")
    """Time servers (RFC 5905)."""
    drift_policy: Literal["repair", "report"] = Field(default="repair", title="On drift")
    """What the agent does when the live router differs from the last commit: repair it, or only report it."""
