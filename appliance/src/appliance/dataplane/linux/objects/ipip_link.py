"""A tunnel of IP in IP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from appliance.dataplane.linux.access import Access
from appliance.dataplane.linux.dump import Dump, LinkRow
from appliance.dataplane.linux.objects.link import Link, marked
from appliance.dataplane.namespace import attributes

_ALIAS = "millrace ipip tunnel"
_TTL = 64
"""VPP's TTL. The kernel's default is the inner packet's TTL, which is 1 between two neighbors."""
_BOTH_FAMILIES = 0
"""Of inner packets. The kernel's default is IPv6 alone, by either kind of device."""
_NO_ENCAPSULATION_LIMIT = 0x1
"""IP6_TNL_F_IGN_ENCAP_LIMIT: else each packet gets an extra header of RFC 2473, which VPP does not read."""


@dataclass(frozen=True)
class IpipLink(Link):
    """A tunnel between two addresses of one family, in canonical text: a ``sit`` device over IPv4, whose name
    is that of its first use, and ``ip6tnl`` over IPv6.
    """

    type = "ipip"

    name: str
    source: str
    destination: str
    mtu: int
    enabled: bool

    def label(self) -> str:
        """``tunnel ipip1 (192.0.2.1 to 198.51.100.1)``."""
        return f"tunnel {self.name} ({self.source} to {self.destination})"

    def identity(self) -> tuple[object, ...]:
        """Both ends."""
        return self.source, self.destination

    def occupies(self) -> str:
        """The pair of addresses: the kernel distinguishes tunnels by nothing else."""
        return f"ipip/{self.source}/{self.destination}"

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
        kind = "ip6tnl" if ":" in self.destination else "sit"
        settings = {"local": self.source, "remote": self.destination, "ttl": _TTL, "proto": _BOTH_FAMILIES}
        if kind == "ip6tnl":
            settings["flags"] = _NO_ENCAPSULATION_LIMIT
        named = {f"{kind}_{name}": value for name, value in settings.items()}
        kernel.route.link("add", ifname=self.name, kind=kind, **named)
        return marked(self.name, _ALIAS, kernel)
