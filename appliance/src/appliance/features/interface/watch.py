"""Links, forwarding by family and drops by reason, before and after a commit. Pure except for readings."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.context import family_title
from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.impact.change import is_up
from appliance.watching.measure import DATA_PLANE, LASTS_S, Asked, Comparison, Measure, Reading, Worse

FORWARDED_PPS = 5.0
"""Less than this before the commit says nothing about the time after it."""
STOPPED = 0.1
STILL_ARRIVING = 0.2
"""Shares of the forwarded, and of the received packets, before the commit."""
DROPPED_PPS = 5.0
TIMES_AS_MANY = 3.0
_COUNTED = ("rx_drops", "tx_drops", "rx_errors", "tx_errors")
_WORDS = {"rx": "received", "tx": "to be sent"}
_FAMILIES = ("ipv4", "ipv6")


def _links(asked: Asked) -> Reading:
    """Before a commit, as the commit itself has just observed them."""
    plane = asked.router.dataplane
    seen = plane.links_observed() if asked.is_before_commit else None
    return dict(plane.links() if seen is None else seen)


def _down(seen: Comparison[Reading]) -> Iterator[Worse]:
    for name, was_up in seen.before.items():
        if was_up and not seen.now.get(name):
            yield Worse(
                name,
                f"Interface {name} has no link." if name in seen.now else f"Interface {name} is missing.",
                "up",
                "down" if name in seen.now else "missing",
                join(["interfaces", name]),
                asked_for=not is_up(seen.after, name),
                kinds=("traffic", "management"),
            )


def _show_links(reading: Reading) -> str:
    return f"{sum(map(bool, reading.values()))} of {len(reading)} up"


def _traffic(asked: Asked) -> Reading:
    return {"arrived": dict(asked.traffic.arrived), "forwarded": dict(asked.traffic.forwarded)}


def _stopped(seen: Comparison[Reading]) -> Iterator[Worse]:
    before, now = seen.rates_before, seen.rates_now
    if before is None or now is None:
        return
    for family in _FAMILIES:
        was_pps, is_pps = before.per_s("forwarded", family), now.per_s("forwarded", family)
        arrived_pps, arrives_pps = before.per_s("arrived", family), now.per_s("arrived", family)
        if (
            was_pps < FORWARDED_PPS
            or is_pps > was_pps * STOPPED
            or arrives_pps < arrived_pps * STILL_ARRIVING
        ):
            continue
        title = family_title(family)
        yield Worse(
            title,
            f"{title} is no longer forwarded: {arrives_pps:.0f} packets/s arrive, {is_pps:.0f} leave.",
            f"{was_pps:.0f} packets/s forwarded",
            f"{is_pps:.0f} packets/s forwarded",
            "/interfaces",
            kinds=("traffic",),
            words=(f"All {title} packets",),
        )


def _show_traffic(reading: Reading) -> str:
    return ", ".join(
        f"{family_title(family)} {reading['forwarded'].get(family, 0):,} packets" for family in _FAMILIES
    )


def _drops(asked: Asked) -> Reading:
    traffic = asked.traffic
    found = dict(traffic.dropped)
    known = traffic.interfaces
    rows = (
        asked.router.dataplane.counters()["interfaces"]
        if known is None
        else {name: vars(one) for name, one in known.items()}
    )
    for name, row in rows.items():
        for field in _COUNTED:
            if row[field]:
                what = "errors" if field.endswith("errors") else "drops"
                found[f"{name}: {what} of packets {_WORDS[field[:2]]}"] = row[field]
    return found


def _dropping(seen: Comparison[Reading]) -> Iterator[Worse]:
    now, before, interfaces = seen.rates_now, seen.rates_before, seen.after.interfaces
    if now is None:
        return
    for reason in seen.now:
        if before is None and seen.before.get(reason):
            continue
        is_pps = now.per_s(reason)
        # If nothing was counted before, as for a list that was not bound, nothing was dropped.
        was_pps = before.per_s(reason) if before is not None else 0.0
        if is_pps < was_pps + DROPPED_PPS or is_pps < was_pps * TIMES_AS_MANY:
            continue
        yield Worse(
            reason,
            f"{is_pps:.0f} packets/s are dropped ({reason}).",
            f"{was_pps:.1f} packets/s",
            f"{is_pps:.1f} packets/s",
            lasts_s=LASTS_S,
            kinds=("traffic",),
            words=(*_families(reason), *(f"on {name}" for name in _words(reason) if name in interfaces)),
        )


def _words(reason: str) -> list[str]:
    return reason.replace(":", " ").split()


def _families(reason: str) -> Iterator[str]:
    """A finding's words for the family that the reason names, even by VPP's short name."""
    for family in _FAMILIES:
        if family.replace("ipv", "ip") in reason or family_title(family) in reason:
            yield f"{family_title(family)} packets"


def _show_drops(reading: Reading) -> str:
    return f"{sum(reading.values()):,} packets in {sum(map(bool, reading.values()))} counters"


def _concerns(config: RouterConfig) -> bool:
    return bool(config.interfaces)


MEASURES = (
    Measure(
        "links",
        f"an interface that had a link has none for {LASTS_S:.0f} s",
        _links,
        _down,
        _show_links,
        _concerns,
        asks=DATA_PLANE,
    ),
    Measure(
        "forwarding",
        f"for {LASTS_S:.0f} s a family that was forwarded at {FORWARDED_PPS:.0f} packets/s or more is "
        f"forwarded at less than {STOPPED:.0%} of that, while at least {STILL_ARRIVING:.0%} of what arrived "
        "before still arrives",
        _traffic,
        _stopped,
        _show_traffic,
        _concerns,
        counts=True,
        asks=DATA_PLANE,
    ),
    Measure(
        "drops",
        f"for {LASTS_S:.0f} s a reason drops {DROPPED_PPS:.0f} packets/s more than before, and "
        f"{TIMES_AS_MANY:.0f} times as many",
        _drops,
        _dropping,
        _show_drops,
        _concerns,
        counts=True,
        asks=DATA_PLANE,
    ),
)
