"""The input from which a data plane's objects are compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from appliance.config.document import RouterConfig
from appliance.dataplane.nic import Nic


@dataclass(frozen=True)
class Wanted:
    """A document, and what is known about its machine."""

    config: RouterConfig
    nics: Mapping[str, Nic] = field(default_factory=dict)
    """The NIC of each interface that is one."""
    netns: str = "dataplane"
    """Network namespace with the kernel's side of every interface."""

    @cached_property
    def _wholes(self) -> dict[str, str]:
        return {part: name for name, one in self.config.interfaces.items() for part in one.made_of}

    def whole(self, name: str) -> str | None:
        """Name of the interface that this one is a part of; None if it is part of none."""
        return self._wholes.get(name)

    def mtu(self, name: str) -> int:
        """The MTU of an interface; a part has that of the whole."""
        return self.config.interfaces[self._wholes.get(name, name)].mtu

    def mac(self, name: str) -> str:
        """The MAC address of an interface that is a NIC or made of NICs; a part has that of the whole.

        It stays the same while the NIC it comes from is gone.
        """
        settings = self.config.interfaces[self._wholes.get(name, name)]
        if settings.given_mac is not None:
            return settings.given_mac
        return self.nics[next(iter(settings.made_of), name)].mac
