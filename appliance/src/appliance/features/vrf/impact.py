"""What a commit does to VRFs, as far as it is looked at. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.pointer import join
from appliance.config.vrf_view import pointer_in
from appliance.features.bgp.effective import FAMILIES, TITLES
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change
from appliance.impact.result import Finding
from frr_config.protocols.bgp.model import BgpFamily


def moves(change: Change) -> Iterator[Finding]:
    """Interfaces that go from one VRF to another."""
    for name, now in change.after.interfaces.items():
        was = change.before.interfaces.get(name)
        if was is None or was.vrf == now.vrf:
            continue
        yield Finding(
            grade="certain",
            kind="traffic",
            path=join(["interfaces", name, "vrf"]),
            text=f"{name} moves from {_titled(was.vrf)} to {_titled(now.vrf)}: packets to and through its "
            "addresses are lost meanwhile, and its hosts reach only what is in that VRF.",
        )


def imports(change: Change) -> Iterator[Finding]:
    """What BGP of a VRF takes over from others: that it changes is told, and not which routes."""
    for vrf, seen in change.in_each_vrf():
        was, now = seen.before.routing.bgp, seen.after.routing.bgp
        if was is None or now is None:
            continue
        for family in FAMILIES:
            before, after = getattr(was, family), getattr(now, family)
            if _imports(before) != _imports(after):
                yield Finding(
                    grade="possible",
                    kind="routes",
                    path=pointer_in(vrf, join(["routing", "bgp", family])),
                    text=f"BGP of {_titled(vrf or None)} takes over other {TITLES[family]} routes of "
                    "other VRFs than before.",
                    depends_on="which routes these have, which is not looked at",
                )


def _imports(family: BgpFamily) -> tuple[frozenset[str], str | None]:
    return frozenset(family.import_vrfs), family.import_route_map


def _titled(vrf: str | None) -> str:
    return "the default VRF" if vrf is None else f"VRF {vrf}"


ANALYSES = (
    Analysis("interfaces that move between VRFs", moves),
    Analysis("imports between VRFs", imports),
)
