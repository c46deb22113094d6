"""The facts about the machine that compiling needs."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.dataplane.machine import Machine
from appliance.dataplane.nic import Nic


@dataclass(frozen=True)
class CompileContext:
    """The facts about the machine that compiling needs."""

    nics: tuple[Nic, ...] = ()
    """The NICs that ethernet interfaces can use."""
    netns: str = "dataplane"
    """Network namespace with the kernel's side of every interface."""
    machine: Machine | None = None
    """Size of the machine, if the data plane is sized by it."""
