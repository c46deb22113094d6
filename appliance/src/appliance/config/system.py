"""Host settings and the data plane's own settings."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from frr_config.types import Address, Description, Model

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
    """Domain put behind the host name."""
    timezone: TimeZone = Field(default="UTC", title="Time zone")
    """IANA time zone of logs on the console."""
    banner: Description = Field(default="", title="Banner")
    """Shown before login on ssh and the console."""
    dns_servers: tuple[Address, ...] = Field(default=(), max_length=3, title="DNS servers")
    """Resolvers of the management plane, at most three (resolv.conf's limit)."""
    ntp_servers: tuple[Address | DomainName, ...] = Field(default=(), max_length=8, title="NTP servers")
    """Time servers (RFC 5905)."""
    drift_policy: Literal["repair", "report"] = Field(default="repair", title="On drift")
    """What the agent does when the live router differs from the last commit: put it back, or only tell."""


class Dataplane(Model):
    """How packets are forwarded. Changes here restart the data plane, and the plan says so."""

    driver: Literal["vpp", "linux"] | None = Field(default=None, title="Driver")
    """Unset means what this router runs; set, a router running the other one refuses the document."""
    route_scale: Literal["standard", "full_tables"] = Field(default="standard", title="Route scale")
    """How many routes to make room for; full_tables is a million and needs 8 GB of memory."""
    workers: int | None = Field(default=None, ge=0, le=64, title="Workers")
    """VPP worker threads; 0 means the main thread forwards, unset means what this machine has CPUs for."""
    main_core: int | None = Field(default=None, ge=0, le=255, title="Main core")
    """CPU of VPP's main thread; unset means CPU 1 where there is one."""
    main_heap_mb: int | None = Field(
        default=None, ge=128, le=65536, title="Main heap", json_schema_extra={"unit": "MB"}
    )
    """VPP's main heap; unset means what suits the machine's memory. 1M routes need about 512 MB."""
    stats_segment_mb: int | None = Field(
        default=None, ge=32, le=4096, title="Statistics segment", json_schema_extra={"unit": "MB"}
    )
    """Shared memory for counters; unset means what suits the machine. 1M routes need 512 MB."""
    buffers_per_numa: int | None = Field(default=None, ge=4096, le=1048576, title="Packet buffers")
    """Packet buffers on each NUMA node; unset means what suits the number of workers."""

    @model_validator(mode="after")
    def _linux_has_no_threads(self) -> Self:
        if self.driver == "linux" and self.workers:
            raise ValueError("workers is a setting of the vpp driver")
        return self
