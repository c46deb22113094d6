"""What a data plane's objects are compiled from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from appliance.config.document import RouterConfig
from appliance.dataplane.nic import Nic


@dataclass(frozen=True)
class Wanted:
    """A document, and what is known of the machine it is for."""

    config: RouterConfig
    nics: Mapping[str, Nic] = field(default_factory=dict)
    """The NIC of each interface that is one."""
    netns: str = "dataplane"
    """Network namespace with the kernel's side of every interface."""
