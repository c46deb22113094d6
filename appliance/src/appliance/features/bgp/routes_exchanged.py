"""Routes that are received or announced differently after a change. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from appliance.config.counted import counted
from appliance.config.pointer import join
from appliance.features.bgp.effective import FAMILIES, TITLES, Family, Peer, peers
from appliance.features.bgp.policy_effects import Effects, Policies
from appliance.features.bgp.sessions import alive, evidence
from appliance.features.policy.changed import ChangedPolicy
from appliance.impact.change import Change
from appliance.impact.result import Finding
from appliance.state.bgp_routes import Direction

_FIELDS = ("prefix_list_in", "route_map_in", "prefix_list_out", "route_map_out")
_WAYS: dict[Direction, str] = {"received": "_in", "advertised": "_out"}


def filters(change: Change) -> Iterator[Finding]:
    """Sessions whose routes are filtered or modified by other rules than before."""
    before, changed, policies = peers(change.before), _Changed(change), Policies(change)
    for address, now in peers(change.after).items():
        change.in_time()
        was = before.get(address)
        for family in FAMILIES:
            if was is None or not was.exchanges(family) or not now.exchanges(family):
                continue
            said = {field: told for field in _FIELDS if (told := changed.of(was, now, family, field))}
            required = [way for way in _WAYS if _lacks(was, family, way) != _lacks(now, family, way)]
            if not (said or required) or alive(change, address) is False:
                continue
            for direction in required:
                news = [field for field in said if field.endswith(_WAYS[direction])]
                if _lacks(now, family, direction):
                    yield _found(change, now, family, _shut(now, family, direction))
                    # Regardless of the policy: nothing is left for it to match.
                    said = {field: told for field, told in said.items() if field not in news}
                elif not news:
                    yield _opened(change, now, family, direction)
            yield from _findings(change, policies, (was, now), family, said)


def _lacks(peer: Peer, family: Family, direction: Direction) -> bool:
    return peer.lacks_policy(family, "in" if direction == "received" else "out")


def _shut(peer: Peer, family: Family, direction: Direction) -> str:
    done = {
        "received": f"from {peer.address} is refused",
        "advertised": f"sent to {peer.address} is withdrawn",
    }
    return (
        f"Every {TITLES[family]} route {done[direction]}: no policy is set for it, and one is required "
        "(ebgp_requires_policy, RFC 8212)."
    )


def _opened(change: Change, peer: Peer, family: Family, direction: Direction) -> Finding:
    what = f"from {peer.address} are accepted" if direction == "received" else f"are sent to {peer.address}"
    return Finding(
        grade="possible",
        kind="routes",
        path=_path(peer, family),
        text=f"{TITLES[family]} routes {what} from now on: no policy is set, and none is required now.",
        depends_on="there are such routes; they may be preferred to others",
        evidence=evidence(change, peer.address),
    )


def _findings(
    change: Change, policies: Policies, both: tuple[Peer, Peer], family: Family, said: Mapping[str, str]
) -> Iterator[Finding]:
    """``said`` has the news, by field."""
    peer = both[1]
    if (name := _refuses_all(change, peer, family, said)) is not None:
        yield _found(
            change,
            peer,
            family,
            f"Every {TITLES[family]} route from {peer.address} is refused: prefix list {name} permits none.",
        )
        said = {
            field: told for field, told in said.items() if field not in ("prefix_list_in", "route_map_in")
        }
    for direction, suffix in _WAYS.items():
        news = [told for field, told in said.items() if field.endswith(suffix)]
        if not news:
            continue
        effects = policies.effects(*both, family, direction)
        if not isinstance(effects, str) and effects.lost_count:
            yield _found(change, peer, family, _lost(peer, family, effects))
        depends = _depends(effects)
        if depends:
            yield Finding(
                grade="possible",
                kind="routes",
                path=_path(peer, family),
                text=f"{TITLES[family]} routes exchanged with {peer.address} change: {'; '.join(news)}."
                + _counted(effects),
                depends_on=depends,
                evidence=_evidence(change, peer, effects),
            )


def _refuses_all(change: Change, peer: Peer, family: Family, said: Mapping[str, str]) -> str | None:
    """The name of a new inbound prefix list that permits nothing."""
    name = peer.named(family, "prefix_list_in") if "prefix_list_in" in said else None
    rules = change.after.routing.policy.prefix_lists.get(name or "")
    denies = rules is not None and all(one.action == "deny" for one in rules.rules.values())
    return name if denies else None


def _found(change: Change, peer: Peer, family: Family, text: str) -> Finding:
    is_up = alive(change, peer.address)
    return Finding(
        grade="certain" if is_up else "possible",
        kind="routes",
        path=_path(peer, family),
        text=text,
        depends_on="" if is_up else "the session is up now, which the router does not report",
        evidence=evidence(change, peer.address),
    )


def _path(peer: Peer, family: Family) -> str:
    return join(["routing", "bgp", "neighbors", peer.address, family])


def _lost(peer: Peer, family: Family, effects: Effects) -> str:
    """The routes that the new rules deny, the first of them named."""
    whole = (
        f"{effects.routes:,}"
        if effects.is_whole
        else f"the {effects.judged:,} examined of {effects.routes:,}"
    )
    more = (
        f" and {effects.lost_count - len(effects.lost):,} more"
        if effects.lost_count > len(effects.lost)
        else ""
    )
    what = f"{effects.lost_count:,} of {whole} {TITLES[family]} routes"
    done = (
        f"from {peer.address} are refused by the new rules"
        if effects.direction == "received"
        else f"sent to {peer.address} are withdrawn by the new rules"
    )
    return f"{what} {done}: {', '.join(effects.lost)}{more}."


def _counted(effects: Effects | str) -> str:
    """The changes to the routes that stay, and the new rules, as sentences."""
    if isinstance(effects, str):
        return ""
    told = [
        (effects.changed, "get other attributes"),
        (effects.new, "that are not sent now pass the new rules"),
        (effects.perhaps_new, "that are not sent now perhaps pass the new rules"),
    ]
    of = "" if effects.is_whole else f" of the {effects.judged:,} examined"
    return "".join(f" {count:,}{of} {what}." for count, what in told if count)


def _depends(effects: Effects | str) -> str:
    """What the rest depends on; empty if everything was counted and nothing changes."""
    if isinstance(effects, str):
        return f"routes match the new rules: they were not counted, because {effects}"
    parts = []
    if effects.unknown:
        parts.append(
            f"attributes of {counted(effects.unknown, 'route')} decide it, which the router does not report"
        )
    if effects.changed:
        parts.append("the new attributes change which route is the best")
    if effects.new:
        parts.append("nothing else holds the new ones back")
    if effects.perhaps_new:
        parts.append(
            f"attributes of {effects.perhaps_new:,} routes that are not sent now decide it, which the router "
            "does not report"
        )
    if not effects.is_whole:
        parts.append(f"some of {counted(effects.routes - effects.judged, 'route')} not examined change")
    if effects.direction == "received":
        parts.append("some of the routes that were refused until now pass: FRR does not report them")
    return "; ".join(parts)


def _evidence(change: Change, peer: Peer, effects: Effects | str) -> str:
    told = evidence(change, peer.address)
    if isinstance(effects, str):
        return told
    of = counted(effects.routes, "route")
    judged = f"{effects.judged:,} of {of} were evaluated by the old and the new rules"
    return ", ".join(filter(None, (told, judged)))


class _Changed:
    """Which policy objects that neighbors name differ."""

    def __init__(self, change: Change) -> None:
        self._policy = ChangedPolicy(change)

    def of(self, was: Peer, now: Peer, family: Family, field: str) -> str:
        """What is new in this field, as a part of a sentence; empty when nothing is."""
        old, new = was.named(family, field), now.named(family, field)
        what, _, way = field.rpartition("_")
        title = f"{what.replace('_', ' ')} {{}} for routes {'received' if way == 'in' else 'sent'}"
        if old != new:
            return title.format(new) + " is new" if new is not None else title.format(old) + " is gone"
        if new is None:
            return ""
        differs = self._policy.prefix_list(new) if what == "prefix_list" else self._policy.route_map(new)
        return title.format(new) + " changes" if differs else ""
