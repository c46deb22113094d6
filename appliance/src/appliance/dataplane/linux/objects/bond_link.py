"""A bond: several NICs that act as one (IEEE 802.1AX)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from appliance.dataplane.linux.access import Access, saying
from appliance.dataplane.linux.dump import Dump, LinkRow
from appliance.dataplane.linux.objects.link import Link, marked
from appliance.dataplane.namespace import attributes

ALIAS = "millrace bond"
_MODES = {"active-backup": 1, "balance-xor": 2, "802.3ad": 4}
_HASHES = {"layer2": 0, "layer3+4": 1, "layer2+3": 2}
_RATES = {"slow": 0, "fast": 1}
_MONITOR_MS = 100
"""How often the kernel checks the members' links; by default it does not."""


@dataclass(frozen=True)
class BondLink(Link):
    """A bond, in the words of the kernel's own documentation. ``hash_policy`` and ``lacp_rate`` are None in
    the modes that have none.
    """

    type = "bond"

    name: str
    mode: str
    mac: str
    hash_policy: str | None
    lacp_rate: str | None
    minimum_links: int
    mtu: int
    enabled: bool

    def label(self) -> str:
        """``bond bond0``."""
        return f"bond {self.name}"

    def identity(self) -> tuple[object, ...]:
        """Mode and MAC address, which its members have taken."""
        return self.mode, self.mac

    def pauses(self, before: Self) -> bool:
        """For another LACP rate: the kernel takes one only while the bond is down."""
        return self.lacp_rate != before.lacp_rate

    def describe_update(self, before: Self) -> str:
        """``change bond bond0: MTU 9000, hash policy layer2``."""
        parts = [
            f"{words} {value}"
            for words, value, old in (
                ("hash policy", self.hash_policy, before.hash_policy),
                ("LACP rate", self.lacp_rate, before.lacp_rate),
                ("minimum links", self.minimum_links, before.minimum_links),
            )
            if value != old
        ]
        if (self.mtu, self.enabled) == (before.mtu, before.enabled):
            return f"change {self.label()}: {', '.join(parts)}"
        return ", ".join([super().describe_update(before), *parts])

    def update_impact(self, before: Self) -> str:
        """More links may be required than there are up; packets of one flow may overtake each other."""
        if before.enabled and self.minimum_links > before.minimum_links:
            return f"loses packets on {self.name}"
        return super().update_impact(before)

    @classmethod
    def read(cls, row: LinkRow, dump: Dump) -> Self | None:
        """Found by our alias. Any mode that we do not make is a difference."""
        if row.alias != ALIAS:
            return None
        data = attributes(attributes(row.known["IFLA_LINKINFO"])["IFLA_INFO_DATA"])
        mode = _word(_MODES, data["IFLA_BOND_MODE"])
        lacp = mode == "802.3ad"
        return cls(
            row.name,
            mode,
            str(row.known["IFLA_ADDRESS"]),
            None if mode == "active-backup" else _word(_HASHES, data["IFLA_BOND_XMIT_HASH_POLICY"]),
            _word(_RATES, data["IFLA_BOND_AD_LACP_RATE"]) if lacp else None,
            max(int(data["IFLA_BOND_MIN_LINKS"]), 1) if lacp else 1,
            row.mtu,
            row.up,
        )

    def make(self, kernel: Access) -> int:
        """Add the device, without members."""
        fixed = {"bond_mode": _MODES[self.mode], "bond_miimon": _MONITOR_MS}
        rate = {} if self.lacp_rate is None else {"bond_ad_lacp_rate": _RATES[self.lacp_rate]}
        kernel.route.link(
            "add", ifname=self.name, kind="bond", address=self.mac, **fixed, **self._settings(), **rate
        )
        return marked(self.name, ALIAS, kernel)

    def _settings(self) -> dict[str, Any]:
        """Settings that change in place, in any state."""
        found: dict[str, Any] = {}
        if self.hash_policy is not None:
            found["bond_xmit_hash_policy"] = _HASHES[self.hash_policy]
        if self.mode == "802.3ad":
            found["bond_min_links"] = self.minimum_links
        return found

    def update(self, before: Self, kernel: Access) -> None:
        """In place; the rate only while the bond is down, which the plan ensures."""
        index = kernel.index(self.name)
        settings = {} if self._settings() == before._settings() else self._settings()
        if self.lacp_rate is not None and self.lacp_rate != before.lacp_rate:
            settings["bond_ad_lacp_rate"] = _RATES[self.lacp_rate]
        if index is not None and settings:
            with saying(f"change {self.label()}"):
                kernel.route.link("set", index=index, kind="bond", **settings)
        super().update(before, kernel)


def _word(words: dict[str, int], number: int) -> str:
    return next((word for word, known in words.items() if known == number), str(number))
