"""A loopback: a dummy device, or an empty bridge where the kernel has no dummy."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import Self

from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump, LinkRow
from appliance.dataplane.linux.objects.link import Link, marked
from appliance.dataplane.rtnetlink import NetlinkError

_ALIAS = "millrace loopback"


@dataclass(frozen=True)
class LoopbackLink(Link):
    """A dummy device, or an empty bridge where the kernel has no dummy."""

    type = "loopback"

    name: str
    mtu: int
    enabled: bool

    def label(self) -> str:
        """``loopback lo1``."""
        return f"loopback {self.name}"

    def identity(self) -> tuple[object, ...]:
        """All are alike."""
        return ()

    @classmethod
    def read(cls, row: LinkRow, dump: Dump) -> Self | None:
        """Found by our alias."""
        return cls(row.name, row.mtu, row.up) if row.alias == _ALIAS else None

    def make(self, kernel: Access) -> int:
        """Add the device."""
        try:
            kernel.route.link("add", ifname=self.name, kind="dummy")
        except NetlinkError as error:
            if error.code != errno.EOPNOTSUPP:
                raise
            kernel.route.link("add", ifname=self.name, kind="bridge")
        return marked(self.name, _ALIAS, kernel)
