"""NICs, workers and memory."""

from __future__ import annotations

from pydantic import Field

from appliance.state.part import Answer, Everything, Number, Part, PartlyRead


class NicState(Answer):
    """A network device that an ethernet interface can be."""

    device: str = Field(description="Its own name, before this router renamed it.")
    mac: str = Field(description="Its permanent address.")
    pci: str | None = Field(None, description="Where it sits on the PCI bus.")
    kind: str | None = Field(None, description="veth and the like; null for hardware.")
    pci_id: str | None = Field(None, description="Vendor and device, such as 1af4:1000.")
    attached: bool = Field(True, description="The kernel drives it, not a driver for user space.")
    known_pci: str | None = Field(None, description="The PCI address by which documents know it.")
    driver: str | None = Field(None, description="How the data plane accesses it, where that is settled.")
    note: str | None = Field(None, description="Why it is slower than it could be.")
    present: bool = Field(True, description="False for a NIC that the document names and that is gone.")


class WorkerState(Answer):
    """A forwarding thread."""

    name: str
    vectors_per_call: Number = Field(description="Packets in one call of a node of VPP, 256 at most.")
    load: Number = Field(description="The same as a share of 256; it stays near 0 for long.")


class MemoryState(Answer):
    """A heap of the data plane."""

    total_bytes: int
    used_bytes: int
    free_bytes: int


class Hardware(PartlyRead):
    """NICs, workers and memory."""

    driver: str = Field(description="The data plane.")
    version: str | None = Field(None, description="Of the data plane's program, where it is one.")
    nics: tuple[NicState, ...] = ()
    workers: tuple[WorkerState, ...] = ()
    memory: dict[str, MemoryState] = Field({}, description="By heap.")


HARDWARE = Part(
    "hardware",
    "NICs, workers and memory.",
    Everything,
    Hardware,
    lambda router, _: router.dataplane.hardware(),
)
