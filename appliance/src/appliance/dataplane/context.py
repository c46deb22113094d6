"""What compiling needs to know of the machine."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.dataplane.machine import Machine
from appliance.dataplane.nic import Nic


@dataclass(frozen=True)
class CompileContext:
    """What compiling needs to know of the machine."""

    nics: tuple[Nic, ...] = ()
    """The NICs that ethernet interfaces can be."""
    netns: str = "dataplane"
    """Network namespace with the kernel's side of every interface."""
    machine: Machine | None = None
    """Size of the machine, where the data plane is sized by it."""
