"""How much of the machine VPP got, for how many routes there is room, and why."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from appliance.state.part import Answer, Everything, Part


class VppSize(Answer):
    """Sizes that VPP reads only when it starts."""

    workers: int
    main_core: int | None = Field(description="CPU of the main thread; null: any.")
    main_heap_mb: int
    stats_segment_mb: int
    buffers_per_numa: int


class HeapUser(Answer):
    """What a feature of the running configuration takes of VPP's main heap at most."""

    what: str
    size_bytes: int


class DataplaneState(Answer):
    """The data plane's size. Only ``driver`` where the kernel forwards, which has no such limits."""

    driver: Literal["vpp", "linux"]
    route_scale: Literal["auto", "standard", "full_tables"] | None = Field(
        None, description="As the running configuration has it."
    )
    chosen_route_scale: Literal["standard", "full_tables"] | None = Field(
        None, description="What VPP is sized by: the same, or what auto chose."
    )
    reason: str = Field("", description="Why, in a sentence or two.")
    memory_mb: int | None = Field(None, description="Of the machine; null while it is not known.")
    room_for_routes: int | None = Field(
        None, description="Routes of both families that VPP, sized so, has room for beside all else."
    )
    heap_users: tuple[HeapUser, ...] = ()
    sized: VppSize | None = Field(None, description="What follows from configuration and machine.")
    started_with: VppSize | None = Field(
        None, description="What VPP's startup file has; null where Millrace does not write it."
    )
    restart_due: bool = Field(False, description="These differ: the next commit restarts VPP.")


DATAPLANE = Part(
    "dataplane",
    "How VPP is sized, for how many routes there is room, and why.",
    Everything,
    DataplaneState,
    lambda router, _: router.dataplane.size_state(router.engine.running_config),
)
