"""The verdict of a neighbor's policy on one route, given all that is known about it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from appliance.features.bgp.effective import Family, Peer
from appliance.state.bgp_routes import Direction, PolicyVerdict
from frr_config.protocols.bgp.routes import BgpPath
from frr_config.protocols.policy.communities import plain_community
from frr_config.protocols.policy.evaluate import Evaluator, Facts, Outcome, TooLong
from frr_config.protocols.policy.model import SetActions
from frr_config.types import IpNetwork

_GRACEFUL_SHUTDOWN = "65535:0"
"""bgpd lowers the local preference of routes that have it, whatever a route map sets (RFC 8326)."""
_BLACKHOLE, _NO_EXPORT = "65535:666", "65535:65281"
"""bgpd adds the second to routes that another AS sends with the first (RFC 7999)."""
_SHOWN = 3


@dataclass(frozen=True)
class Judged:
    """Whether a route passes, and the attributes set on it; None if that depends on something unknown."""

    permits: bool | None
    changes: tuple[str, ...] | None = ()
    """In words."""
    ways: frozenset[tuple[bool, tuple[str, ...]]] = frozenset()
    """The outcomes that are possible, each with what it assumes."""


@dataclass(frozen=True)
class PolicyOfNeighbor:
    """The policy for one direction and family of a neighbor."""

    peer: Peer
    family: Family
    direction: Direction
    is_internal: bool
    evaluator: Evaluator

    @property
    def prefix_list(self) -> str | None:
        """Its name."""
        return self.peer.named(self.family, f"prefix_list_{self._way}")

    @property
    def route_map(self) -> str | None:
        """Its name."""
        return self.peer.named(self.family, f"route_map_{self._way}")

    def verdict(self, network: IpNetwork, path: BgpPath | None, accepted: bool = False) -> PolicyVerdict:
        """The verdict on a route; on any of this prefix if ``path`` is None. ``accepted``: FRR took it.

        FRR shows a received route as the policy has changed it: the original value of a field that the policy
        can set is unknown.
        """
        names = self.prefix_list, self.route_map
        if names == (None, None):
            return self._without_policy()
        try:
            outcomes = self.evaluator.outcomes(*names, self.facts(network, path))
        except TooLong:
            return PolicyVerdict(verdict="unknown", depends_on="the policy is too long to be followed here")
        if accepted and path is not None:
            outcomes = tuple(one for one in outcomes if one.permits and _fits(one.given, path)) or outcomes
        return _summed_up(outcomes)

    def judged(self, facts: Facts) -> Judged:
        """What happens to a route about which this much is known."""
        names = self.prefix_list, self.route_map
        if names == (None, None):
            return Judged(self._without_policy().verdict == "permit")
        try:
            outcomes = self.evaluator.outcomes(*names, facts)
        except TooLong:
            return Judged(None, None)
        permits, changes = {one.permits for one in outcomes}, {one.changes for one in outcomes}
        return Judged(
            next(iter(permits)) if len(permits) == 1 else None,
            next(iter(changes)) if len(changes) == 1 else None,
            frozenset((one.permits, one.assumes) for one in outcomes),
        )

    @property
    def _way(self) -> str:
        return "in" if self.direction == "received" else "out"

    def _without_policy(self) -> PolicyVerdict:
        if self.peer.bgp.ebgp_requires_policy and not self.is_internal:
            return PolicyVerdict(verdict="deny", rule="no policy is set, and one is required (RFC 8212)")
        return PolicyVerdict(verdict="permit", rule="no policy is set")

    def facts(self, network: IpNetwork, path: BgpPath | None) -> Facts:
        """What is known about a route before the policy."""
        if path is None:
            return Facts(network)
        if self.direction == "advertised":
            # bgpd may remove the MED, and private AS numbers, before it applies the policy.
            as_path = None if self.peer.sets(self.family, "remove_private_as") else path.as_path
            return Facts(network, as_path, _plain(path.communities))
        changed = self.evaluator.may_set(self.route_map)
        return Facts(
            network,
            None if "as_path" in changed else path.as_path,
            None if "communities" in changed else _plain(path.communities),
            None if "metric" in changed else path.med or 0,
        )


def _summed_up(outcomes: tuple[Outcome, ...]) -> PolicyVerdict:
    permits = {one.permits for one in outcomes}
    rules = tuple(dict.fromkeys(one.rule for one in outcomes))
    changes = {one.changes for one in outcomes}
    assumed = tuple(
        dict.fromkeys(what for one in outcomes for what in one.assumes if " does not " not in what)
    )
    return PolicyVerdict(
        verdict="unknown" if len(permits) > 1 else "permit" if True in permits else "deny",
        rule=_some(rules, " or "),
        changes=next(iter(changes)) if len(changes) == 1 else (),
        depends_on=f"whether {_some(assumed, ', ')}" if len(rules) > 1 and assumed else "",
    )


def _some(texts: tuple[str, ...], joint: str) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return joint.join(texts[:_SHOWN]) + more


def _fits(given: SetActions, path: BgpPath) -> bool:
    """Whether a route with these values set can look like this."""
    communities = _plain(path.communities) or frozenset()
    if _BLACKHOLE in communities:
        communities -= {_NO_EXPORT}
    wanted = frozenset(map(plain_community, given.communities))
    lowered = _GRACEFUL_SHUTDOWN in communities
    wanted -= {_NO_EXPORT} if _BLACKHOLE in wanted else set()
    return (
        (given.local_preference in (None, path.local_preference) or lowered)
        and given.metric in (None, path.med)
        and (wanted <= communities if given.communities_additive else not wanted or wanted == communities)
        and (
            path.large_communities is None
            or not given.large_communities
            or set(given.large_communities) == set(path.large_communities)
        )
        and path.as_path.split()[: len(given.as_path_prepend)] == [str(asn) for asn in given.as_path_prepend]
    )


def _plain(communities: Iterable[str] | None) -> frozenset[str] | None:
    return None if communities is None else frozenset(map(plain_community, communities))
