"""A kernel with the bonding driver, in memory: what it refuses, and what it does to members by itself.

As the documentation of bonding and its driver have it: a link is down when it becomes a member and up
afterwards, it takes the bond's MTU and MAC address, and is down with its own when it leaves.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyroute2.netlink.exceptions import NetlinkError

_UP, _MASTER, _LOWER_UP = 0x1, 0x400, 0x10000


@dataclass
class FakeLink:
    """A link; ``own`` are MTU and MAC address from before it was a member."""

    name: str
    mac: str
    kind: str | None = None
    mtu: int = 1500
    up: bool = False
    alias: str = ""
    master: int = 0
    own: tuple[int, str] = (1500, "")
    data: dict[str, int] = field(default_factory=dict)


class BondingKernel:
    """Stands for an ``Access`` and its rtnetlink socket at once."""

    def __init__(self, **macs: str) -> None:
        self.links = {10 + number: FakeLink(name, mac) for number, (name, mac) in enumerate(macs.items())}
        self.calls: list[str] = []

    @property
    def route(self) -> BondingKernel:
        return self

    def take(self, device: str) -> None:
        """All NICs are here."""

    give_back = take

    def index(self, name: str) -> int | None:
        return next((index for index, link in self.links.items() if link.name == name), None)

    def link(self, verb: str, **fields: Any) -> None:
        data = {f"IFLA_{name.upper()}": fields.pop(name) for name in list(fields) if name.startswith("bond_")}
        if verb == "add":
            assert fields.pop("kind") == "bond"
            index = max(self.links, default=9) + 1
            self.links[index] = FakeLink(
                fields["ifname"], fields["address"], "bond", data={**_DEFAULTS, **data}
            )
            return
        index = fields.pop("index")
        if index not in self.links:
            raise NetlinkError(errno.ENODEV, "no such device")
        link = self.links[index]
        if verb == "del":
            for part, other in list(self.links.items()):
                if other.master == index:
                    self.link("set", index=part, master=0)
            del self.links[index]
            return
        assert fields.pop("kind", "bond") == "bond"
        self._configure(link, data)
        for name, value in fields.items():
            getattr(self, f"_set_{name}")(link, value)

    def _configure(self, bond: FakeLink, data: dict[str, int]) -> None:
        if "IFLA_BOND_AD_LACP_RATE" in data and bond.up:
            raise NetlinkError(errno.EACCES, "the interface is up")
        if "IFLA_BOND_MODE" in data:
            raise NetlinkError(errno.EBUSY, "the mode is set when the bond is made")
        bond.data |= data

    def _set_state(self, link: FakeLink, value: str) -> None:
        link.up = value == "up"

    def _set_mtu(self, link: FakeLink, value: int) -> None:
        link.mtu = value
        for other in self._parts(link):
            other.mtu = value

    def _set_ifalias(self, link: FakeLink, value: str) -> None:
        link.alias = value

    def _set_ifname(self, link: FakeLink, value: str) -> None:
        if link.up:
            raise NetlinkError(errno.EBUSY, "the interface is up")
        link.name = value

    def _set_master(self, link: FakeLink, value: int) -> None:
        if value:
            if link.up:
                raise NetlinkError(errno.EPERM, "Device can not be enslaved while up")
            bond = self.links[value]
            assert bond.kind == "bond"
            assert not link.master
            link.own = (link.mtu, link.mac)
            link.master, link.up, link.mtu, link.mac = value, True, bond.mtu, bond.mac
            return
        bond = self.links[link.master]
        index = self.index(link.name)
        if bond.data.get("IFLA_BOND_PRIMARY") == index:
            bond.data["IFLA_BOND_PRIMARY"] = 0
        link.master, link.up, (link.mtu, link.mac) = 0, False, link.own

    def _parts(self, bond: FakeLink) -> list[FakeLink]:
        index = self.index(bond.name)
        return [link for link in self.links.values() if link.master == index]

    def flush_addr(self, index: int) -> None:
        """There are no addresses here."""

    def get_addr(self) -> list[Any]:
        return []

    def get_links(self, *only: int) -> Iterator[dict[str, Any]]:
        for index, link in self.links.items():
            if not only or index in only:
                yield self._message(index, link)

    def _message(self, index: int, link: FakeLink) -> dict[str, Any]:
        attributes: list[tuple[str, Any]] = [
            ("IFLA_IFNAME", link.name),
            ("IFLA_MTU", link.mtu),
            ("IFLA_ADDRESS", link.mac),
            ("IFLA_IFALIAS", link.alias),
        ]
        flags = (_UP | _LOWER_UP) * link.up
        if link.master:
            own = [("IFLA_BOND_SLAVE_PERM_HWADDR", link.own[1]), ("IFLA_BOND_SLAVE_MII_STATUS", 0)]
            own += [("IFLA_BOND_SLAVE_STATE", 0), ("IFLA_BOND_SLAVE_AD_AGGREGATOR_ID", 1)]
            held = [("IFLA_INFO_SLAVE_KIND", "bond"), ("IFLA_INFO_SLAVE_DATA", {"attrs": own})]
            attributes += [("IFLA_MASTER", link.master), ("IFLA_LINKINFO", {"attrs": held})]
        if link.kind is not None:
            data = [
                (name, value) for name, value in link.data.items() if value or name != "IFLA_BOND_PRIMARY"
            ]
            about = [("IFLA_INFO_KIND", link.kind), ("IFLA_INFO_DATA", {"attrs": data})]
            attributes.append(("IFLA_LINKINFO", {"attrs": about}))
            flags |= _MASTER
        return {"index": index, "flags": flags, "ifi_type": 1, "attrs": attributes}


_DEFAULTS = {"IFLA_BOND_XMIT_HASH_POLICY": 0, "IFLA_BOND_AD_LACP_RATE": 0, "IFLA_BOND_MIN_LINKS": 0}
