"""What other rules do to the routes that are exchanged with a neighbor now, counted route by route.

Pure but for the facts, which are lists of BGP's table where it is short enough for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_network

from appliance.engine.backend import BackendUnavailable
from appliance.features.bgp.effective import FAMILIES, Family, Peer
from appliance.features.bgp.table_lists import lists_of, too_long
from appliance.features.bgp.verdict import PolicyOfNeighbor
from appliance.impact.change import Change
from appliance.impact.facts import Fact, Live
from appliance.routing.rows import Family as Version
from appliance.state.bgp_routes import Direction
from frr_config.protocols.bgp.routes import BgpEntry, BgpPath, TableSize, entry, size
from frr_config.protocols.policy.evaluate import Evaluator
from frr_config.types import IpNetwork

MOST_JUDGED = 2000
"""Routes of one neighbor, family and direction that are judged; of more, as many at equal distances."""
_SHOWN = 5
VERSIONS: dict[Family, Version] = {"ipv4_unicast": "ipv4", "ipv6_unicast": "ipv6"}


@dataclass(frozen=True)
class Table:
    """BGP's routes of a family; ``why_not`` says why they are not listed."""

    entries: tuple[BgpEntry, ...] = ()
    why_not: str = ""
    sample_of: TableSize | None = None
    """The entries are some of so many."""

    def held(self, address: str, direction: Direction) -> int | None:
        """Of a sample: routes that are accepted from the neighbor, or advertised to it, in all."""
        if self.sample_of is None:
            return None
        now = self.sample_of.neighbors.get(address)
        if now is None:
            return 0
        return (now.received if direction == "received" else now.sent) or 0


def _sampled(live: Live, version: Version, known: TableSize) -> Table:
    """Some entries, each asked for by its prefix, which costs bgpd the same whatever its table's size."""
    with suppress(BackendUnavailable):
        prefixes = () if live.samples is None else live.samples(version, live.vrf)
        if prefixes:
            found = live.routing.ask(lambda frr: [entry(frr, ip_network(one)) for one in prefixes])
            return Table(tuple(one for one in found if one is not None), sample_of=known)
    return Table(why_not="BGP's table is too long to be listed")


def _reader(version: Version) -> Fact[Table]:
    def read(live: Live) -> Table:
        known = live.routing.ask(lambda frr: size(frr, version))
        if too_long(known):
            return _sampled(live, version, known)
        seen = lists_of(live.routing).read(version, None)
        return Table(why_not=seen.note) if seen.value is None else Table(seen.value.entries)

    return Fact(f"BGP's {'IPv6' if version == 'ipv6' else 'IPv4'} routes", read)


TABLES: dict[Family, Fact[Table]] = {family: _reader(VERSIONS[family]) for family in FAMILIES}


@dataclass
class Effects:
    """Of one neighbor, family and direction."""

    direction: Direction
    routes: int
    """Accepted from the neighbor, or advertised to it, now."""
    judged: int = 0
    lost: list[str] = field(default_factory=list)
    """The first that the new rules deny."""
    lost_count: int = 0
    unknown: int = 0
    """It depends on what the router does not tell."""
    changed: int = 0
    """Still permitted, with other attributes."""
    new: int = 0
    """Not advertised now, and permitted then."""
    perhaps_new: int = 0
    """Not advertised now, and perhaps permitted then: it depends on what the router does not tell."""

    @property
    def is_whole(self) -> bool:
        """Whether every route was judged."""
        return self.judged == self.routes

    def lose(self, network: IpNetwork) -> None:
        """The new rules deny it."""
        self.lost_count += 1
        if len(self.lost) < _SHOWN:
            self.lost.append(str(network))


class Policies:
    """Judges routes by the policy before and after a change; each is prepared once."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._before = Evaluator(change.before.routing.policy)
        self._after = Evaluator(change.after.routing.policy)

    def effects(self, was: Peer, now: Peer, family: Family, direction: Direction) -> Effects | str:
        """What becomes of the routes, or why that is not known. Raises OutOfTime."""
        table = self._change.facts.of(TABLES[family])
        if table is None:
            return "the router does not tell them"
        if table.why_not:
            return table.why_not
        routes = list(_exchanged(table.entries, now.address, direction))
        held = sum(is_held for _, _, is_held in routes)
        in_all = table.held(now.address, direction)
        if in_all and not held:
            return f"none of the {len(table.entries):,} routes that were looked at is exchanged with it"
        effects = Effects(direction, held if in_all is None else max(held, in_all))
        step = -(-len(routes) // MOST_JUDGED) or 1
        for network, path, is_held in routes[::step]:
            self._change.in_time()
            self._judge(effects, (was, now), family, network, path, is_held)
        return effects

    def _judge(
        self,
        effects: Effects,
        peers: tuple[Peer, Peer],
        family: Family,
        network: IpNetwork,
        path: BgpPath,
        is_held: bool,
    ) -> None:
        before, after = (
            PolicyOfNeighbor(peer, family, effects.direction, peer.is_internal, evaluator)
            for peer, evaluator in zip(peers, (self._before, self._after), strict=True)
        )
        facts = before.facts(network, path)
        then = after.judged(facts)
        effects.judged += is_held
        if not is_held:
            now = before.judged(facts)
            # What is denied now for another reason than the policy stays so.
            if now.permits is True or then.permits is False:
                return
            certain = then.permits is True and now.permits is False
            effects.new += certain
            is_same = bool(then.ways) and (then.permits, then.ways) == (now.permits, now.ways)
            effects.perhaps_new += not certain and not is_same
        elif then.permits is False:
            effects.lose(network)
        elif then.permits is None:
            effects.unknown += 1
        else:
            effects.changed += then.changes is None or then.changes != before.judged(facts).changes


def _exchanged(
    entries: tuple[BgpEntry, ...], address: str, direction: Direction
) -> Iterator[tuple[IpNetwork, BgpPath, bool]]:
    """Routes, and whether they are accepted or advertised now."""
    for one in entries:
        if direction == "received":
            yield from ((one.network, path, True) for path in one.of(address))
        elif one.best is not None and one.best.neighbor != address:
            yield one.network, one.best, address in one.advertised_to
