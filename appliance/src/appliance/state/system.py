"""The machine the router runs on: processors, memory, disks, uptime and versions."""

from __future__ import annotations

from pydantic import Field

from appliance.state.part import Answer, Everything, Part


class CpuState(Answer):
    """One processor, as the kernel accounts for it (proc_stat(5)). Shares are 0 to 1."""

    cpu: int = Field(description="Its number.")
    busy: float = Field(description="Share of the time it was not idle.")
    user: float = Field(description="Share in programs; a polling worker of VPP takes all of its processor.")
    system: float = Field(description="Share in the kernel for programs.")
    interrupts: float = Field(
        description="Share in interrupts; where the kernel forwards, forwarding is in here."
    )
    io_wait: float = Field(description="Share idle while something waited for a disk.")
    steal: float = Field(description="Share that the hypervisor gave to others.")
    seconds: dict[str, float] = Field(
        description="Seconds since boot by what they were spent on: user, system, interrupts, io_wait, "
        "steal, idle."
    )


class ProcessorState(Answer):
    """All processors."""

    busy: float = Field(description="Mean over all processors, 0 to 1.")
    over_s: float = Field(description="Seconds that the shares are taken over, up to now.")
    cpus: tuple[CpuState, ...] = ()
    load_1m: float = Field(
        description="Processes that ran or waited for a processor or disk, mean of a minute."
    )
    load_5m: float
    load_15m: float


class RamState(Answer):
    """Memory of the machine."""

    total_bytes: int
    available_bytes: int = Field(description="What programs can still get without swapping.")
    used_bytes: int = Field(description="Total less available; huge pages count as used.")
    swap_total_bytes: int
    swap_used_bytes: int
    huge_page_bytes: int = Field(description="Size of a huge page.")
    huge_pages_total: int
    huge_pages_free: int

    @property
    def share(self) -> float:
        """Of the total, 0 to 1."""
        return self.used_bytes / self.total_bytes if self.total_bytes else 0.0


class FileSystemState(Answer):
    """A file system that the router writes to or runs from."""

    mount: str = Field(description="Where it is mounted.")
    holds: tuple[str, ...] = Field(description="system, configuration, logs.")
    total_bytes: int
    used_bytes: int
    available_bytes: int = Field(description="Without what is reserved for root.")
    inodes_total: int = Field(description="0 where the file system has no fixed number.")
    inodes_free: int

    @property
    def share(self) -> float:
        """Used of what programs may have, 0 to 1."""
        room = self.used_bytes + self.available_bytes
        return self.used_bytes / room if room else 0.0


class KeptState(Answer):
    """One kind of thing that the agent keeps on the disk."""

    kind: str = Field(
        description="reserve is room set aside, so that a full disk does not prevent a rollback."
    )
    used_bytes: int
    quota_bytes: int = Field(description="The oldest go before it is passed.")


class SystemState(Answer):
    """The machine and what runs on it."""

    hostname: str
    time: str = Field(description="By the router's clock, ISO 8601.")
    uptime_s: float = Field(description="Since the machine was started.")
    agent_uptime_s: float = Field(description="Since the agent was started.")
    processor: ProcessorState
    memory: RamState
    file_systems: tuple[FileSystemState, ...]
    kept: tuple[KeptState, ...] = Field(description="What the agent keeps, by kind.")
    versions: dict[str, str] = Field(
        description="Of millrace, python, kernel and os; of vpp and frr as last reported, within a minute."
    )


SYSTEM = Part(
    "system",
    "Processors, memory, disks, uptime and versions of the router.",
    Everything,
    SystemState,
    lambda router, _: router.system(),
)
