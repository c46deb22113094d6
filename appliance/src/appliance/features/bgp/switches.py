"""Settings besides policy that decide which routes a neighbor gets and gives. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from appliance.config.pointer import join
from appliance.features.bgp.effective import FAMILIES, TITLES, Family, Peer, peers
from appliance.features.bgp.sessions import alive, evidence
from appliance.impact.change import Change
from appliance.impact.result import Finding


@dataclass(frozen=True)
class _Turned:
    """What happens to a neighbor's routes: the words after its address in a sentence, and what decides it."""

    text: str
    depends_on: str


_SWITCHES: dict[str, tuple[_Turned, _Turned]] = {
    "default_originate": (
        _Turned(
            "is sent a default route by this router",
            "it prefers this one to what it has, and sends this router packets that it cannot forward",
        ),
        _Turned(
            "is no longer sent a default route by this router",
            "nothing else gives it one",
        ),
    ),
    "next_hop_self": (
        _Turned(
            "is sent routes with this router as their next hop",
            "it had another path to their next hops, and this router does not forward its packets there",
        ),
        _Turned(
            "is sent routes with the next hop that they came with",
            "it, or a router behind it, has no route to these next hops",
        ),
    ),
    "route_reflector_client": (
        _Turned(
            "is sent the routes of other neighbors in this AS, and they are sent its routes",
            "they are preferred to those it has",
        ),
        _Turned(
            "is no longer sent the routes of other neighbors in this AS, nor are they sent its routes",
            "it has no session with them, or with another route reflector",
        ),
    ),
    "remove_private_as": (
        _Turned(
            "is sent AS paths without private AS numbers",
            "it, or a router behind it, chooses or refuses routes by their AS paths",
        ),
        _Turned(
            "is sent AS paths with their private AS numbers",
            "it, or a router behind it, chooses or refuses routes by their AS paths",
        ),
    ),
}
"""By field: the effects of turning it on and off."""


def switched(change: Change) -> Iterator[Finding]:
    """Neighbors whose sessions stay, but whose own settings change which routes are sent or accepted."""
    before = peers(change.before)
    for address, now in peers(change.after).items():
        change.in_time()
        was = before.get(address)
        for family in FAMILIES:
            if was is None or not was.exchanges(family) or not now.exchanges(family):
                continue
            for field, turned in _turned(was, now, family):
                if alive(change, address) is not False:
                    yield Finding(
                        grade="possible",
                        kind="routes",
                        path=join(["routing", "bgp", "neighbors", address, family, field]),
                        text=f"{address} {turned.text} ({TITLES[family]}).",
                        depends_on=turned.depends_on,
                        evidence=evidence(change, address),
                    )


def _turned(was: Peer, now: Peer, family: Family) -> Iterator[tuple[str, _Turned]]:
    for field, (on, off) in _SWITCHES.items():
        if was.sets(family, field) != now.sets(family, field):
            yield field, on if now.sets(family, field) else off
    earlier, allowed = was.own_as_allowed(family), now.own_as_allowed(family)
    if allowed < earlier:
        times = "" if not allowed else f" more than {allowed} time{'s' if allowed > 1 else ''}"
        text = f"no longer has its routes accepted if this router's AS is in their AS path{times}"
        yield "allowas_in", _Turned(text, "it sends such routes")
    elif allowed > earlier:
        text = f"has its routes accepted if this router's AS is in their AS path up to {allowed} times"
        yield "allowas_in", _Turned(text, "it sends such routes, and they are preferred to others")
