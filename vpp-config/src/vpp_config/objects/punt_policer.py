"""How many packets a second VPP hands to Linux."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from vpp_config.access import Access
from vpp_config.client import Request, request
from vpp_config.dumps import ALL, Dumps
from vpp_config.errors import ObjectMissing
from vpp_config.objects.base import Family, VppObject

_FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
_NAME = "punt-"
_POLICERS = request("policer_dump_v2", policer_index=ALL)
_PACKETS_PER_SECOND = 1
_CLOSEST, _ONE_RATE_TWO_COLORS = 0, 0
_DROP, _TRANSMIT = {"type": 0, "dscp": 0}, {"type": 1, "dscp": 0}


@dataclass(frozen=True)
class PuntPolicer(VppObject):
    """Drops the packets of one family that VPP does not handle itself and that exceed ``rate_pps``.

    ``burst_ms`` is the burst, as time at that rate. VPP has one such policer binding for each family, over
    all interfaces; no object exists where packets are not limited.
    """

    kind = "punt_policer"
    tables: ClassVar[tuple[Request, ...]] = (_POLICERS,)

    family: Family
    rate_pps: int
    burst_ms: int

    def __post_init__(self) -> None:
        if not 1 <= self.rate_pps < 2**32 or not 1 <= self.burst_ms < 2**32:
            raise ValueError("rate_pps and burst_ms are whole numbers above 0")

    @property
    def key(self) -> str:
        """``punt_policer/<family>``."""
        return f"punt_policer/{self.family}"

    def label(self) -> str:
        """``limit of 50000 ipv4 packets a second to Linux``."""
        return f"limit of {self.rate_pps} {self.family} packets a second to Linux"

    def needs_recreate(self, before: PuntPolicer) -> bool:
        """Never: rate and burst are changed in operation."""
        return False

    def describe_update(self, before: PuntPolicer) -> str:
        """``limit ipv4 packets to Linux to 50000 a second``."""
        return f"limit {self.family} packets to Linux to {self.rate_pps} a second"

    def create(self, vpp: Access) -> None:
        """Make the policer and bind it; a policer left by an earlier attempt is used.

        VPP counts how many times it was bound and does not report the count. A policer left over is therefore
        unbound first, which does no harm where it was not bound.
        """
        index = self._find(vpp)
        if index is None:
            name = policer_name(vpp.prefix, self.family)
            index = vpp.call("policer_add", name=name, infos=self._settings()).policer_index
        else:
            self._bind(vpp, index, is_add=False)
            vpp.call("policer_update", policer_index=index, infos=self._settings())
        self._bind(vpp, index, is_add=True)

    def update(self, before: PuntPolicer, vpp: Access) -> None:
        """Change rate and burst in place. Raises ``ObjectMissing``."""
        vpp.call("policer_update", policer_index=self._index(vpp), infos=self._settings())

    def delete(self, vpp: Access) -> None:
        """Unbind, then remove: VPP does not check whether a policer is in use. Raises ``ObjectMissing``."""
        index = self._index(vpp)
        self._bind(vpp, index, is_add=False)
        vpp.call("policer_del", policer_index=index)

    def _settings(self) -> dict[str, Any]:
        return {
            "cir": self.rate_pps, "eir": 0, "cb": self.burst_ms, "eb": 0,
            "rate_type": _PACKETS_PER_SECOND, "round_type": _CLOSEST, "type": _ONE_RATE_TWO_COLORS,
            "color_aware": False,
            "conform_action": _TRANSMIT, "exceed_action": _DROP, "violate_action": _DROP,
        }  # fmt: skip

    def _find(self, vpp: Access) -> int | None:
        return policer_index(vpp.call, policer_name(vpp.prefix, self.family))

    def _index(self, vpp: Access) -> int:
        index = self._find(vpp)
        if index is None:
            raise ObjectMissing(f"VPP has no {self.label()}")
        return index

    def _bind(self, vpp: Access, index: int, *, is_add: bool) -> None:
        vpp.call("ip_punt_police", policer_index=index, is_add=is_add, is_ip6=self.family == "ipv6")

    @classmethod
    def observe(cls, dumps: Dumps) -> Iterator[PuntPolicer]:
        """Policers with our names. VPP does not report what is bound: each is bound when it is made."""
        for family in _FAMILIES:
            details = next(
                (one for one in dumps.table(_POLICERS) if dumps.our_name(one.name) == _NAME + family), None
            )
            if details is not None and int(details.rate_type) == _PACKETS_PER_SECOND:
                yield cls(family, details.cir, details.cb)


def policer_index(call: Callable[..., Any], name: str) -> int | None:
    """VPP's index of a policer, which no answer holds: indexes are asked for one by one until all
    policers were seen.
    """
    left = len(call("policer_dump_v2", policer_index=ALL))
    index = 0
    while left:
        rows = call("policer_dump_v2", policer_index=index)
        if any(row.name == name for row in rows):
            return index
        left -= len(rows)
        index += 1
    return None


def policer_name(prefix: str, family: Family) -> str:
    """VPP's name of a family's policer."""
    return prefix + _NAME + family
