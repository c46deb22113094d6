"""Sessions and the prefixes they bring, before and after a commit. Pure except for the reading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from appliance.config.counted import counted
from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.features.bgp.effective import FAMILIES, TITLES, Family, peers
from appliance.watching.measure import Asked, Comparison, Measure, Probe, Reading, Worse
from frr_config.protocols.bgp.session import ESTABLISHED, OVER_LIMIT

FEWER = 0.1
"""The share of its prefixes that a neighbor may withdraw without counting as worse."""
_CLOSED_S = 3.0
_SHORT: dict[Family, str] = {"ipv4_unicast": "ipv4Unicast", "ipv6_unicast": "ipv6Unicast"}


def _read(asked: Asked) -> Reading:
    """One summary: half a kilobyte for each neighbor, regardless of its routes."""
    summary = asked.routing.ask(lambda frr: frr.bgp_summary())
    found: Reading = {}
    for family in FAMILIES:
        shown = summary.get(_SHORT[family])
        for address, peer in (shown.get("peers") or {}).items() if isinstance(shown, dict) else ():
            one = found.setdefault(str(address), {"state": str(peer.get("state", "")), "prefixes": {}})
            count = peer.get("pfxRcd")
            one["prefixes"][family] = count if isinstance(count, int) else 0
    return found


def _compare(seen: Comparison[Reading]) -> Iterator[Worse]:
    wanted = peers(seen.after)
    for address, was in seen.before.items():
        if was["state"] != ESTABLISHED:
            continue
        path = join(["routing", "bgp", "neighbors", address])
        now: dict[str, Any] | None = seen.now.get(address)
        peer = wanted.get(address)
        if now is None or now["state"] != ESTABLISHED:
            state = "gone" if now is None else now["state"]
            # A session over its limit stays closed: waiting does not help.
            closed = OVER_LIMIT in state
            yield Worse(
                address,
                f"The BGP session with {address} is down.",
                ESTABLISHED,
                state,
                path,
                asked_for=peer is None,
                lasts_s=_CLOSED_S if closed else None,
                kinds=("session",),
            )
            continue
        for family, count in was["prefixes"].items():
            left = now["prefixes"].get(family, 0)
            if count - left > count * FEWER:
                yield Worse(
                    f"{address} {TITLES[family]}",
                    f"{address} sends {left:,} {TITLES[family]} prefixes, {count - left:,} fewer.",
                    counted(count, "prefix", "prefixes"),
                    counted(left, "prefix", "prefixes"),
                    path,
                    asked_for=peer is None or not peer.exchanges(family),
                    lasts_s=None,
                    kinds=("routes", "session"),
                    words=(address,),
                )


def _shows(reading: Reading) -> str:
    up = [one for one in reading.values() if one["state"] == ESTABLISHED]
    prefixes = sum(sum(one["prefixes"].values()) for one in up)
    return f"{len(up)} of {len(reading)} established, {prefixes:,} prefixes"


def _concerns(config: RouterConfig) -> bool:
    return config.routing.bgp is not None and bool(config.routing.bgp.neighbors)


def probes(config: RouterConfig) -> Iterator[Probe]:
    """The neighbors."""
    for address in peers(config):
        yield Probe(address, f"BGP neighbor {address}", join(["routing", "bgp", "neighbors", address]))


MEASURES = (
    Measure(
        "BGP sessions",
        "a session that was established is not at the end of the watch, or is closed for too many prefixes; "
        f"or at the end a neighbor sends over {FEWER:.0%} fewer prefixes of a family",
        _read,
        _compare,
        _shows,
        _concerns,
        ahead=True,
    ),
)
