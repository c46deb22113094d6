"""RIB = FIB: whether packets go where FRR sends them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from appliance.agent.route_proof import Proof
from appliance.health.check import UNDER_WAY_S, Check, Finding, Look

if TYPE_CHECKING:
    from appliance.agent.router import Router

_SHOWN = 5
_BY_ITSELF = "The feeder gives VPP the route again automatically, every 15 s while it differs. "
_BY_HAND = (
    "The page Routes shows RIB, kernel and FIB side by side. Clear the session that the route is from to have"
    " it announced again; if the difference persists, restart FRR: systemctl restart frr."
)


def _proof(router: Router) -> Proof:
    return router.route_proof.look()


def differing(look: Look[Proof]) -> Iterator[Finding]:
    """Routes that FRR has selected but the kernel or the data plane does not follow."""
    found = look.now.differing
    if not found:
        return
    first = next(iter(found))
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    evidence = dict(list(found.items())[:_SHOWN])
    if len(found) > _SHOWN:
        evidence["more"] = str(len(found) - _SHOWN)
    yield Finding(
        "routes_differ",
        "routes",
        "major",
        f"The route of {first}{more} is not what FRR says: packets go elsewhere or are dropped",
        _BY_ITSELF + _BY_HAND if look.now.told_again else _BY_HAND,
        evidence,
        patience_s=UNDER_WAY_S,
    )


CHECKS = (Check("a share of the routes in RIB and FIB", _proof, differing),)
