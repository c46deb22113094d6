"""Routes received from and advertised to a neighbor: single ones at once, lists if the table is short."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TypeGuard

from appliance.config.document import RouterConfig
from appliance.errors import NotFound
from appliance.features.bgp.effective import TITLES, Family, peer_of
from appliance.features.bgp.remarks import remark, unseen
from appliance.features.bgp.table_lists import LISTED, TableList, lists_of, too_long
from appliance.features.bgp.verdict import PolicyOfNeighbor
from appliance.routing.rows import Family as Version
from appliance.routing.seldom import Seen
from appliance.routing.view import VrfRoutingView
from appliance.state.bgp_routes import BgpRoute, BgpRoutes, BgpRoutesQuery
from frr_config.protocols.bgp.routes import BgpEntry, BgpPath, Exchanged, entry, size
from frr_config.protocols.policy.communities import plain_community
from frr_config.protocols.policy.evaluate import Evaluator
from frr_config.protocols.policy.model import Policy
from frr_config.types import IpAddress, IpNetwork

_DEEPER = 8
"""In a long table, prefixes within another are queried one by one: those at most this many bits longer."""
_ASN = re.compile(r"\d+")


@dataclass(frozen=True)
class _Row:
    """A route before it is judged and shown."""

    network: IpNetwork
    path: BgpPath
    holds: bool = True
    """FRR has accepted it, or advertises it."""


@dataclass(frozen=True)
class _Found:
    rows: list[_Row]
    note: str = ""
    listed: bool = True
    age_s: float = 0.0


def neighbor_routes(config: RouterConfig, routing: VrfRoutingView, query: BgpRoutesQuery) -> BgpRoutes:
    """The answer. Raises NotFound for a neighbor that is not configured, BackendUnavailable."""
    look = _Look(config, routing, query)
    why_none = look.why_none()
    found = _Found([], why_none) if why_none else look.found()
    page = found.rows[query.offset : query.offset + query.limit]
    return BgpRoutes(
        neighbor=query.address,
        direction=query.direction,
        family=look.version,
        established=look.now.is_up,
        prefixes=look.now.received if look.is_received else look.now.sent,
        keeps_refused=look.keeps,
        prefix_list=look.policy.prefix_list,
        route_map=look.policy.route_map,
        attributes="after policy" if look.is_received else "before policy",
        routes=tuple(look.shown(row) for row in page),
        total=len(found.rows),
        listed=found.listed,
        note=found.note,
        age_s=round(found.age_s, 1),
        list_limit=LISTED,
        offset=query.offset,
        limit=query.limit,
    )


class _Look:
    """One question on its way."""

    def __init__(self, config: RouterConfig, routing: VrfRoutingView, query: BgpRoutesQuery) -> None:
        self._routing, self._query = routing, query
        self._target = _target(query)
        known = peer_of(config, query.address)
        if known is None:
            raise NotFound(f"there is no BGP neighbor {query.address}")
        self._peer = known
        self.version: Version = query.family
        if self._target is not None:
            self.version = "ipv6" if self._target.version == 6 else "ipv4"
        self.family: Family = "ipv6_unicast" if self.version == "ipv6" else "ipv4_unicast"
        self._size = routing.ask(lambda frr: size(frr, self.version))
        self.now = self._size.neighbors.get(query.address, Exchanged(False, False, None, None))
        self.is_received = query.direction == "received"
        self.keeps = known.sets(self.family, "soft_reconfiguration_inbound")
        self.policy = PolicyOfNeighbor(
            known, self.family, query.direction, self.now.is_internal, _evaluator(config.routing.policy)
        )

    def why_none(self) -> str:
        """Why nothing is exchanged; empty if something is."""
        if not self._peer.own.enabled:
            return "The session is shut down on purpose."
        if not self._peer.exchanges(self.family):
            return f"{TITLES[self.family]} is not exchanged with this neighbor."
        return "" if self.now.is_up else "The session is not established: no routes are exchanged."

    def found(self) -> _Found:
        """What the question is for."""
        why_long, target = too_long(self._size), self._target
        if target is None or self._query.within:
            if not why_long:
                return self._listed()
            return self._within(target) if _is_network(target) else _Found([], why_long, listed=False)
        if self._asks_for_kept and not why_long:
            seen = self._read()
            if seen.value is not None:
                return self._one(_meeting(self._rows_of(seen.value), target), seen)
        return self._one(
            self._exact(target) if _is_network(target) else self._longest(ip_address(str(target)))
        )

    def shown(self, row: _Row) -> BgpRoute:
        """A row as in the answer, with the policy's verdict."""
        path, received = row.path, self.is_received
        verdict = self.policy.verdict(row.network, path, accepted=row.holds and received)
        held: tuple[str, str] = ("accepted", "refused") if received else ("advertised", "not advertised")
        return BgpRoute.model_validate(
            {
                "prefix": str(row.network),
                "status": held[not row.holds],
                "learned_from": "" if received else path.neighbor,
                "next_hop": path.next_hop,
                "as_path": path.as_path,
                "origin": path.origin,
                "med": path.med,
                "local_preference": path.local_preference,
                "communities": path.communities,
                "large_communities": path.large_communities,
                "extended_communities": path.extended_communities,
                "best": path.is_best,
                "valid": path.is_valid,
                "since_epoch_s": path.since_epoch_s,
                "policy": verdict,
                "remark": remark(self.policy, path, row.holds, verdict),
            }
        )

    # Lists.

    @property
    def _asks_for_kept(self) -> bool:
        return self.is_received and self.keeps

    def _read(self) -> Seen[TableList]:
        keeper = ip_address(self._query.address) if self._asks_for_kept else None
        return lists_of(self._routing).read(self.version, keeper)

    def _listed(self) -> _Found:
        seen = self._read()
        if seen.value is None:
            return _Found([], seen.note, listed=False)
        rows = [row for row in self._rows_of(seen.value) if self._is_within(row) and self._has(row)]
        return _Found(rows, self._left_out(), age_s=seen.age_s)

    def _left_out(self) -> str:
        if self.is_received and not self.keeps:
            return (
                "Routes that the policy refuses are not kept, so they are not here: the setting Keep "
                f"received routes of {TITLES[self.family]} keeps them, at the cost of memory."
            )
        if self.is_received and self._query.community is not None:
            return "FRR does not report the communities of refused routes, so none of those routes is here."
        return ""

    def _rows_of(self, listed: TableList) -> list[_Row]:
        rows = [row for one in listed.entries for row in self._rows(one) if row.holds]
        accepted = {row.network for row in rows}
        rows += [_Row(network, path, False) for network, path in listed.kept if network not in accepted]
        return sorted(rows, key=lambda row: (int(row.network.network_address), row.network.prefixlen))

    def _rows(self, known: BgpEntry) -> list[_Row]:
        address = self._query.address
        if self.is_received:
            return [_Row(known.network, path) for path in known.of(address)]
        return [_Row(known.network, known.best or known.paths[0], address in known.advertised_to)]

    def _is_within(self, row: _Row) -> bool:
        target = self._target
        if target is None:
            return True
        outer = target if _is_network(target) else ip_network(str(target))
        return row.network.prefixlen >= outer.prefixlen and row.network.network_address in outer

    def _has(self, row: _Row) -> bool:
        """Whether it has the requested AS and community."""
        asn, community = self._query.asn, self._query.community
        if asn is not None and str(asn) not in _ASN.findall(row.path.as_path):
            return False
        known = (*(row.path.communities or ()), *(row.path.large_communities or ()))
        return community is None or plain_community(community) in map(plain_community, known)

    # Single routes: bgpd's cost for each question does not depend on the size of its table.

    def _entry(self, destination: IpAddress | IpNetwork) -> BgpEntry | None:
        return self._routing.ask(lambda frr: entry(frr, destination))

    def _exact(self, network: IpNetwork) -> list[_Row]:
        known = self._entry(network)
        return [] if known is None else self._rows(known)

    def _longest(self, address: IpAddress) -> list[_Row]:
        """The longest prefix that holds; of the advertised ones, if none holds, the longest possible one."""
        known = self._entry(address)
        could = [] if known is None else self._rows(known)
        if any(row.holds for row in could):
            return could
        first = address.max_prefixlen if known is None else known.network.prefixlen - 1
        for length in range(first, -1, -1):
            rows = self._exact(ip_network(f"{address}/{length}", strict=False))
            if any(row.holds for row in rows):
                return rows
            could = could or rows
        return could

    def _within(self, outer: IpNetwork) -> _Found:
        deepest = min(outer.prefixlen + _DEEPER, outer.max_prefixlen)
        rows = [row for inner in _inside(outer, deepest) for row in self._exact(inner) if row.holds]
        note = (
            f"The table is too long for a list: {outer} and the prefixes inside it up to /{deepest} were "
            "asked for one by one, and longer ones were not."
        )
        wanted = sorted(filter(self._has, rows), key=lambda row: int(row.network.network_address))
        return _Found(wanted, " ".join(filter(None, (note, self._left_out()))))

    def _one(self, rows: list[_Row], listed: Seen[TableList] | None = None) -> _Found:
        """The answer for one prefix or address, and what can be said if there is none."""
        wanted, target, note = list(filter(self._has, rows)), self._target, ""
        assert target is not None
        if rows and not wanted:
            note = f"The route {rows[0].network} does not match what was asked for."
        elif not rows and not self.is_received:
            note = f"BGP's table has no route {'' if _is_network(target) else 'for '}{target} to advertise."
            if self._peer.sets(self.family, "default_originate"):
                note += " A default route is originated for this neighbor, which is not in the table."
        elif not rows and listed is not None:
            note = f"{target} is not among the routes that FRR keeps of this neighbor."
        elif not rows:
            note = f"FRR has accepted no route for {target} from this neighbor."
            if _is_network(target):
                note = unseen(self.policy, target)
            if not self.keeps:
                note += " Refused routes are not kept."
        return _Found(wanted, note, age_s=0.0 if listed is None else listed.age_s)


def _is_network(target: IpAddress | IpNetwork | None) -> TypeGuard[IpNetwork]:
    return isinstance(target, IPv4Network | IPv6Network)


def _target(query: BgpRoutesQuery) -> IpAddress | IpNetwork | None:
    """A prefix for its own route, an address for the longest match."""
    if query.prefix is None:
        return None
    if "/" not in query.prefix:
        return ip_address(query.prefix)
    network = ip_network(query.prefix)
    return network.network_address if query.longest and not query.within else network


def _inside(outer: IpNetwork, deepest: int) -> Iterator[IpNetwork]:
    for length in range(outer.prefixlen, deepest + 1):
        yield from outer.subnets(new_prefix=length)


def _meeting(rows: list[_Row], target: IpAddress | IpNetwork) -> list[_Row]:
    """The rows of a prefix, or of the longest prefix that has an address."""
    if _is_network(target):
        return [row for row in rows if row.network == target]
    rows = [row for row in rows if target in row.network]
    longest = max((row.network.prefixlen for row in rows), default=0)
    return [row for row in rows if row.network.prefixlen == longest]


class _Prepared(threading.local):
    """One evaluator for each thread; a policy is prepared again when it is another one."""

    policy: Policy | None = None
    evaluator: Evaluator | None = None


_PREPARED = _Prepared()


def _evaluator(policy: Policy) -> Evaluator:
    if _PREPARED.evaluator is None or _PREPARED.policy is not policy:
        _PREPARED.policy, _PREPARED.evaluator = policy, Evaluator(policy)
    return _PREPARED.evaluator
