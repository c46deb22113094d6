"""What a commit does to VRFs, as far as it is looked at. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.config.pointer import join
from appliance.impact.analysis import Analysis
from appliance.impact.change import Change
from appliance.impact.result import Finding


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


def routing(change: Change) -> Iterator[Finding]:
    """Routing of VRFs: that it changes is told, what comes of it is not analysed."""
    for name in {**change.before.vrfs, **change.after.vrfs}:
        was, now = change.before.vrfs.get(name), change.after.vrfs.get(name)
        before, after = None if was is None else was.routing, None if now is None else now.routing
        if was is not None and before != after:
            yield Finding(
                grade="possible",
                kind="routes",
                path=join(["vrfs", name]) if after is None else join(["vrfs", name, "routing"]),
                text=f"The routing of VRF {name} {'goes' if after is None else 'changes'}. Its sessions and "
                "routes are not looked at: the steps say which sessions are reset.",
            )


def _titled(vrf: str | None) -> str:
    return "the default VRF" if vrf is None else f"VRF {vrf}"


ANALYSES = (
    Analysis("interfaces that move between VRFs", moves),
    Analysis("changes of VRFs' routing", routing),
)
