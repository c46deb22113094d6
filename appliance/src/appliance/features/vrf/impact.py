"""The effects of a commit on VRFs, as far as they are analysed. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from appliance.config.document import RouterConfig
from appliance.config.pointer import join
from appliance.config.vrf_view import DEFAULT_VRF, pointer_in
from appliance.features.bgp.announced import listed, unannounced
from appliance.features.bgp.effective import FAMILIES, TITLES, Family
from appliance.features.policy.changed import ChangedPolicy
from appliance.features.static.gone import gone
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change
from appliance.impact.result import Finding
from frr_config.protocols.bgp.model import BgpFamily


def moves(change: Change) -> Iterator[Finding]:
    """Interfaces that move from one VRF to another."""
    for name, now in change.after.interfaces.items():
        was = change.before.interfaces.get(name)
        if was is None or was.vrf == now.vrf:
            continue
        yield Finding(
            grade="certain",
            kind="traffic",
            path=join(["interfaces", name, "vrf"]),
            text=f"{name} moves from {_titled(was.vrf)} to {_titled(now.vrf)}: packets to and through its "
            "addresses are lost during the move, and its hosts then reach only what is in that VRF.",
        )


def imports(change: Change) -> Iterator[Finding]:
    """Routes that BGP of a VRF imports from others that no longer have them. Which routes is not analysed."""
    policy, known = ChangedPolicy(change), cache(partial(_lost, change))
    for vrf, seen in change.in_each_vrf():
        change.in_time()
        for family in FAMILIES:
            before, after = _imports(seen.before, family), _imports(seen.after, family)
            path = pointer_in(vrf, join(["routing", "bgp", family]))
            who, what = f"BGP of {_titled(vrf or None)}", f"{TITLES[family]} routes of other VRFs"
            if before != after:
                done = f"imports a different set of {what}" if after[0] else f"no longer imports {what}"
                yield _taken(path, f"{who} {done}.")
                continue
            name = after[1]
            if name is not None and policy.route_map(name):
                yield _taken(path, f"{who} imports {what} by different rules: route map {name} changes.")
            for source in sorted(after[0]):
                if lost := known(source, family):
                    of = _titled(None if source == DEFAULT_VRF else source)
                    yield _taken(path, f"{who} no longer imports {lost} from {of}.")


def _taken(path: str, text: str) -> Finding:
    return Finding(
        grade="possible",
        kind="routes",
        path=path,
        text=text,
        depends_on="there are such routes, which is not checked",
    )


def _lost(change: Change, source: str, family: Family) -> str:
    """What BGP of the source VRF no longer has of its own."""
    seen = change.in_vrf("" if source == DEFAULT_VRF else source)
    was, now = seen.before.routing.bgp, seen.after.routing.bgp
    if was is None:
        return ""
    if now is None:
        return f"{TITLES[family]} routes"
    return listed(unannounced(family, getattr(was, family), getattr(now, family), gone(seen)))


def _imports(config: RouterConfig, family: Family) -> tuple[frozenset[str], str | None]:
    bgp = config.routing.bgp
    if bgp is None:
        return frozenset(), None
    settings: BgpFamily = getattr(bgp, family)
    return frozenset(settings.import_vrfs), settings.import_route_map


def _titled(vrf: str | None) -> str:
    return "the default VRF" if vrf is None else f"VRF {vrf}"


ANALYSES = (
    Analysis("interfaces that move between VRFs", moves),
    Analysis("imports between VRFs", imports),
)
