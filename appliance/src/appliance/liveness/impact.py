"""Objects that a change leaves, or makes, without a route to what they need. Pure except for the facts."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from appliance.config.context import address
from appliance.features.registry import declared
from appliance.impact.change import Change
from appliance.impact.leading import leading
from appliance.impact.result import Finding
from appliance.liveness.declaration import Need, Thing, every_liveness

_DOCUMENT = ("", "static", "connected", "kernel", "local")
"""Protocols of routes that the document itself brings: what becomes of them is read there."""


def unreached(change: Change) -> Iterator[Finding]:
    """A finding for each need that is not met after the change, and is new or was met before."""
    for liveness in every_liveness():
        if liveness.things is None:
            continue
        before = {one.pointer: one for one in liveness.things(change.before)}
        for thing in liveness.things(change.after):
            was = before.get(thing.pointer)
            for need in thing.needs:
                change.in_time()
                found = _finding(change, thing, need)
                if found is None:
                    continue
                if was is None or not any(_is_same(one, need) and not _met(change, one) for one in was.needs):
                    yield found


def _is_same(was: Need, now: Need) -> bool:
    return (was.address, was.vrf, was.only_by) == (now.address, now.vrf, now.only_by)


def _met(change: Change, need: Need) -> bool:
    ways = _ways(change, need, after=False)
    return ways is None or (bool(ways) and not _is_wrong(need, ways))


def _ways(change: Change, need: Need, after: bool) -> frozenset[str] | None:
    """The interfaces by which packets leave; None: a routing protocol may bring the route."""
    seen, found = change.in_vrf(need.vrf), frozenset[str]()
    for leads in declared("impact", "leads"):
        ways = leads(seen, address(need.address), after)
        if ways is None:
            return None
        found |= ways
    return found


def _is_wrong(need: Need, ways: frozenset[str]) -> bool:
    return "" not in ways and ((need.only_by and not ways & set(need.only_by)) or ways == {need.not_by})


def _finding(change: Change, thing: Thing, need: Need) -> Finding | None:
    title = f"{thing.noun[0].upper()}{thing.noun[1:]} {thing.name}"
    where = f" in VRF {need.vrf}" if need.vrf else ""
    ways = _ways(change, need, after=True)
    if ways and _is_wrong(need, ways):
        side = need.side or "where they are needed"
        by = ", ".join(sorted(ways))
        text = f"{title} may lead nowhere: packets to {need.address} leave by {by}, which is not {side}."
        depends = "no routing protocol brings another route, and answers do not come back the way they need"
        return Finding(grade="possible", kind="traffic", path=thing.pointer, text=text, depends_on=depends)
    if ways:
        return None
    text = f"{title} does nothing: no route leads to {ip_address(need.address)}{where}."
    if ways is not None:
        return Finding(grade="certain", kind="traffic", path=thing.pointer, text=text)
    known = change.in_vrf(need.vrf).facts.of(leading((need.address,)))
    prefix, protocol = ("", "") if known is None else known[need.address]
    if protocol not in _DOCUMENT:
        return None
    return Finding(
        grade="possible",
        kind="traffic",
        path=thing.pointer,
        text=text.replace("no route leads", "no connected network and no static route leads"),
        depends_on="no routing protocol brings a route to it",
        evidence="" if known is None or prefix else "FRR has no route to it now",
    )
