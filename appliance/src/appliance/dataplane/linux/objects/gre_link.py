"""A GRE tunnel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump, LinkRow
from appliance.dataplane.linux.objects.link import Link, marked
from appliance.dataplane.namespace import attributes

_ALIAS = "millrace gre tunnel"
_TTL = 254
"""VPP's TTL. The kernel's default is the inner packet's TTL, which is 1 between two neighbors."""
_NO_ENCAPSULATION_LIMIT = 0x1
"""IP6_TNL_F_IGN_ENCAP_LIMIT: else each packet gets an extra header of RFC 2473, which VPP does not read."""


@dataclass(frozen=True)
class GreLink(Link):
    """A GRE tunnel between two addresses of one family, in canonical text."""

    type = "gre"

    name: str
    source: str
    destination: str
    mtu: int
    enabled: bool

    def label(self) -> str:
        """``tunnel gre1 (192.0.2.1 to 198.51.100.1)``."""
        return f"tunnel {self.name} ({self.source} to {self.destination})"

    def identity(self) -> tuple[object, ...]:
        """Both ends."""
        return self.source, self.destination

    def occupies(self) -> str:
        """The pair of addresses: the kernel distinguishes tunnels by nothing else."""
        return f"gre/{self.source}/{self.destination}"

    @classmethod
    def read(cls, row: LinkRow, dump: Dump) -> Self | None:
        """Found by our alias."""
        if row.alias != _ALIAS:
            return None
        about = attributes(row.known["IFLA_LINKINFO"])
        data, kind = attributes(about["IFLA_INFO_DATA"]), about["IFLA_INFO_KIND"].upper()
        source, destination = (str(data[f"IFLA_{kind}_{end}"]) for end in ("LOCAL", "REMOTE"))
        return cls(row.name, source, destination, row.mtu, row.up)

    def make(self, kernel: Access) -> int:
        """Add the device."""
        kind = "ip6gre" if ":" in self.destination else "gre"
        settings = {"local": self.source, "remote": self.destination, "ttl": _TTL}
        if kind == "ip6gre":
            settings["flags"] = _NO_ENCAPSULATION_LIMIT
        named = {f"{kind}_{name}": value for name, value in settings.items()}
        kernel.route.link("add", ifname=self.name, kind=kind, **named)
        return marked(self.name, _ALIAS, kernel)
