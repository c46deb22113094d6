"""A neighbor's settings combined with its peer group's, as bgpd has them. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from frr_config.protocols.bgp.model import Bgp, Neighbor, NeighborFamily, PeerGroup

Family = Literal["ipv4_unicast", "ipv6_unicast"]
FAMILIES: tuple[Family, ...] = ("ipv4_unicast", "ipv6_unicast")
TITLES: dict[Family, str] = {"ipv4_unicast": "IPv4 unicast", "ipv6_unicast": "IPv6 unicast"}


@dataclass(frozen=True)
class Peer:
    """One neighbor. Each setting it leaves open is that of its group."""

    bgp: Bgp
    address: str
    own: Neighbor
    group: PeerGroup | None

    @property
    def remote_asn(self) -> int | str | None:
        """The AS it must be in."""
        return self.own.remote_asn if self.own.remote_asn is not None else self._group("remote_asn")

    @property
    def is_internal(self) -> bool:
        """Whether it is in this router's own AS."""
        return self.remote_asn in ("internal", self.bgp.asn)

    @property
    def is_external(self) -> bool:
        """Whether it is in another AS. Neither, where no AS is given."""
        return self.remote_asn is not None and not self.is_internal

    @property
    def secret(self) -> object:
        """Comparable; never shown."""
        return self.own.password if self.own.password is not None else self._group("password")

    @property
    def distance(self) -> tuple[int | None, int | None]:
        """``ebgp_multihop`` and ``ttl_security_hops``: one of them at most."""
        own = (self.own.ebgp_multihop, self.own.ttl_security_hops)
        return (
            (self._group("ebgp_multihop"), self._group("ttl_security_hops")) if own == (None, None) else own
        )

    @property
    def hops(self) -> int:
        """How far away it may be, by the document."""
        multihop, ttl_security = self.distance
        return multihop or ttl_security or 1

    @property
    def update_source(self) -> str | None:
        """An address of this router, or an interface."""
        source = (
            self.own.update_source if self.own.update_source is not None else self._group("update_source")
        )
        return None if source is None else str(source)

    def exchanges(self, family: Family) -> bool:
        """Whether the family is exchanged."""
        return getattr(self.own, family) is not None or self._group(family) is not None

    def limit(self, family: Family) -> int | None:
        """The number of prefixes above which the session is closed; None if it is not."""
        of_own, of_group = self._families(family)
        for one in (of_own, of_group):
            if one is not None and one.maximum_prefix is not None:
                only_warn = any(
                    one is not None and one.maximum_prefix_warning_only for one in (of_own, of_group)
                )
                return None if only_warn else one.maximum_prefix
        return None

    def named(self, family: Family, field: str) -> str | None:
        """The route map or prefix list in this field."""
        for one in self._families(family):
            if one is not None and getattr(one, field) is not None:
                return str(getattr(one, field))
        return None

    def lacks_policy(self, family: Family, way: Literal["in", "out"]) -> bool:
        """Whether no route passes that way because a required policy is not set (RFC 8212)."""
        if not self.bgp.ebgp_requires_policy or self.is_internal:
            return False
        return all(self.named(family, f"{kind}_{way}") is None for kind in ("prefix_list", "route_map"))

    def own_as_allowed(self, family: Family) -> int:
        """How often this router's AS may occur in the paths that it sends."""
        allowed = (one.allowas_in for one in self._families(family) if one is not None)
        return next((one for one in allowed if one is not None), 0)

    def sets(self, family: Family, field: str) -> bool:
        """Whether this switch is on."""
        return any(one is not None and getattr(one, field) for one in self._families(family))

    def _families(self, family: Family) -> tuple[NeighborFamily | None, NeighborFamily | None]:
        return getattr(self.own, family), self._group(family)

    def _group(self, name: str) -> Any:
        return None if self.group is None else getattr(self.group, name)


def peer_in(bgp: Bgp, address: str) -> Peer:
    """A neighbor of the instance. Raises KeyError where there is none of this address."""
    own = bgp.neighbors[address]
    group = None if own.peer_group is None else bgp.peer_groups.get(own.peer_group)
    return Peer(bgp, address, own, group)


def peers_in(bgp: Bgp) -> Iterator[Peer]:
    """All neighbors of the instance, those that are shut down too."""
    return (peer_in(bgp, address) for address in bgp.neighbors)
