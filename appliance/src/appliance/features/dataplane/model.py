"""The data plane's own settings."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from frr_config.types import Model


class Dataplane(Model):
    """How packets are forwarded. Changes here restart the data plane, and the plan says so."""

    driver: Literal["vpp", "linux"] | None = Field(default=None, title="Driver")
    """Unset means the one this router runs. If it is set, a router that runs the other one refuses the
    document.
    """
    route_scale: Literal["auto", "standard", "full_tables"] = Field(default="auto", title="Route scale")
    """How many routes to make room for. full_tables is a million and needs 6,000 MB of memory; auto is
    full_tables on a machine that has them, unless main_heap_mb or stats_segment_mb is set, else standard.
    """
    workers: int | None = Field(default=None, ge=0, le=64, title="Workers")
    """VPP worker threads; 0 means the main thread forwards, unset means as many as this machine has CPUs for.
    """
    main_core: int | None = Field(default=None, ge=0, le=255, title="Main core")
    """CPU of VPP's main thread; unset means CPU 1 where there is one."""
    main_heap_mb: int | None = Field(
        default=None, ge=128, le=65536, title="Main heap", json_schema_extra={"unit": "MB"}
    )
    """Size of VPP's main heap; unset means one that suits the machine's memory and the route scale. A million
    routes need 768 MB.
    """
    stats_segment_mb: int | None = Field(
        default=None, ge=32, le=4096, title="Statistics segment", json_schema_extra={"unit": "MB"}
    )
    """Size of the shared memory for counters; unset means one that suits the machine. A million routes need
    68 MB for each thread.
    """
    buffers_per_numa: int | None = Field(default=None, ge=4096, le=1048576, title="Packet buffers")
    """Packet buffers on each NUMA node; unset means a number that suits the number of workers."""

    @model_validator(mode="after")
    def _linux_has_no_threads(self) -> Self:
        if self.driver == "linux" and self.workers:
            raise ValueError("workers is a setting of the vpp driver")
        return self
