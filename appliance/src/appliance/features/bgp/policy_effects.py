"""What other rules do to the routes that are exchanged with a neighbor now, counted route by route.

Pure but for the facts, which are lists of BGP's table where it is short enough for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from appliance.features.bgp.effective import FAMILIES, Family, Peer
from appliance.features.bgp.table_lists import lists_of, too_long
from appliance.features.bgp.verdict import PolicyOfNeighbor
from appliance.impact.change import Change
from appliance.impact.facts import Fact, Live
from appliance.routing.rows import Family as Version
from appliance.state.bgp_routes import Direction
from frr_config.protocols.bgp.routes import BgpEntry, BgpPath, size
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


def _reader(version: Version) -> Fact[Table]:
    def read(live: Live) -> Table:
        if too_long(live.routing.ask(lambda frr: size(frr, version))):
            return Table(why_not="BGP's table is too long to be listed")
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
        effects = Effects(direction, sum(is_held for _, _, is_held in routes))
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
            PolicyOfNeighbor(peer, family, effects.direction, _is_internal(peer), evaluator)
            for peer, evaluator in zip(peers, (self._before, self._after), strict=True)
        )
        facts = before.facts(network, path)
        then = after.judged(facts)
        effects.judged += is_held
        if not is_held:
            # What is denied now for another reason than the policy stays so.
            effects.new += then.permits is True and before.judged(facts).permits is False
        elif then.permits is False:
            effects.lose(network)
        elif then.permits is None:
            effects.unknown += 1
        else:
            effects.changed += then.changes is None or then.changes != before.judged(facts).changes


def _is_internal(peer: Peer) -> bool:
    return peer.remote_asn in ("internal", peer.bgp.asn)


def _exchanged(
    entries: tuple[BgpEntry, ...], address: str, direction: Direction
) -> Iterator[tuple[IpNetwork, BgpPath, bool]]:
    """Routes, and whether they are accepted or advertised now."""
    for entry in entries:
        if direction == "received":
            yield from ((entry.network, path, True) for path in entry.of(address))
        elif entry.best is not None and entry.best.neighbor != address:
            yield entry.network, entry.best, address in entry.advertised_to
