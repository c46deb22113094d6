"""Next hops that a change names and that nothing reaches: routes that forward nothing by them.

Pure except for the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from appliance.config.context import network
from appliance.config.pointer import join
from appliance.features.interface.impact import LINKS
from appliance.features.static.table import Table, touched
from appliance.impact.change import Change
from appliance.impact.leading import leading
from appliance.impact.result import Finding
from frr_config.protocols.static.model import NextHop

_SHOWN = 5
_KERNEL = ("static", "connected", "kernel", "local")
"""Protocols of routes that the document brings itself: what becomes of them is read in the document."""


@dataclass
class Unused:
    """Static routes that do not use a next hop, for one reason."""

    why: str
    all_paths: bool
    """They have no other path."""
    depends_on: str = ""
    evidence: str = ""
    prefixes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Reason:
    why: str
    depends_on: str = ""
    evidence: str = ""


def unresolved(change: Change, before: Table, after: Table) -> Iterable[Unused]:
    """Of the static routes that the change touches; a path that was as dead before is not repeated."""
    found: dict[tuple[str, bool], Unused] = {}
    asked = _Asked(change, before, after)
    for prefix in touched(change):
        change.in_time()
        was, now = before.route(prefix), after.route(prefix)
        if now is None or now.blackhole or after.is_hidden(prefix):
            continue
        # The end of a route that was used is a finding of its own.
        if was is not None and before.is_connected(was) and not after.is_connected(now):
            continue
        dead = {hop: reason for hop in now.next_hops if (reason := asked.why(prefix, hop)) is not None}
        all_paths = len(dead) == len(now.next_hops)
        known = {} if was is None else {(hop.address, hop.interface, hop.vrf): hop for hop in was.next_hops}
        for hop, reason in dead.items():
            earlier = known.get((hop.address, hop.interface, hop.vrf))
            if earlier is not None and before.resolution(earlier) == after.resolution(hop):
                continue
            found.setdefault(
                (reason.why, all_paths), Unused(reason.why, all_paths, reason.depends_on, reason.evidence)
            ).prefixes.append(prefix)
    return found.values()


class _Asked:
    """The state of next hops; each is asked for once, because thousands of routes share a few."""

    def __init__(self, change: Change, before: Table, after: Table) -> None:
        self._change, self._before, self._after = change, before, after
        self._known: dict[NextHop, _Reason | None] = {}

    def why(self, prefix: str, hop: NextHop) -> _Reason | None:
        """Why packets do not go by the next hop; None if they do."""
        if hop not in self._known:
            self._known[hop] = self._why(prefix, hop)
        return self._known[hop]

    def _why(self, prefix: str, hop: NextHop) -> _Reason | None:
        resolution = self._after.resolution(hop)
        if resolution == "connected":
            return self._without_link(hop)
        if hop.interface is not None:
            return _Reason(f"{hop.interface} is down")
        if resolution == "no":
            return _Reason(f"no route leads to its next hop {hop.address}")
        return self._by_protocol(prefix, hop) if hop.vrf is None else None

    def _without_link(self, hop: NextHop) -> _Reason | None:
        """An interface that the change brings has no link yet, and is not judged by it."""
        name = self._after.interface_of(hop)
        if name is None or name not in self._change.before.interfaces:
            return None
        links = self._change.facts.of(LINKS)
        known = {} if links is None else {one.name: one.link for one in links.interfaces}
        if known.get(name) != "down" or not self._change.before.interfaces[name].enabled:
            return None
        return _Reason(
            f"{name} has no link", "its link is still down then", f"the link of {name} is down now"
        )

    def _by_protocol(self, prefix: str, hop: NextHop) -> _Reason | None:
        assert hop.address is not None
        by = "no routing protocol brings a route to it"
        why = f"no connected network and no static route leads to its next hop {hop.address}"
        known = self._change.facts.of(leading((hop.address,)))
        if known is None:
            return _Reason(why, by)
        found, protocol = known[hop.address]
        if found and network(found).prefixlen and protocol not in _KERNEL and found != prefix:
            return None
        if found and not network(found).prefixlen:
            by += ", and FRR does not resolve it by the default route"
            return _Reason(why, by, "FRR has only the default route to it now")
        return _Reason(why, by, "" if found else "FRR has no route to it now")


def told(unused: Iterable[Unused]) -> Iterator[Finding]:
    """A finding for each reason."""
    for one in unused:
        shown = ", ".join(one.prefixes[:_SHOWN])
        more = f" and {len(one.prefixes) - _SHOWN:,} more" if len(one.prefixes) > _SHOWN else ""
        plural = len(one.prefixes) > 1
        does = (
            ("forward nothing" if plural else "forwards nothing")
            if one.all_paths
            else f"{'use' if plural else 'uses'} only {'their' if plural else 'its'} other paths"
        )
        why = one.why.replace("its next hop", "their next hop") if plural else one.why
        yield Finding(
            grade="possible" if one.depends_on else "certain",
            kind="routes",
            path=join(["routing", "static", *(() if plural else one.prefixes)]),
            text=f"The static route{'s' if plural else ''} to {shown}{more} {does}: {why}.",
            depends_on=one.depends_on,
            evidence=one.evidence,
        )
