"""Where FRR and the policy differ on a route, and what is known of why. Pure."""

from __future__ import annotations

import re

from appliance.features.bgp.verdict import PolicyOfNeighbor
from appliance.state.bgp_routes import PolicyVerdict
from frr_config.protocols.bgp.routes import BgpPath
from frr_config.types import IpNetwork


def remark(policy: PolicyOfNeighbor, path: BgpPath, holds: bool, verdict: PolicyVerdict) -> str:
    """A sentence; empty where FRR did as the policy says. ``holds``: FRR accepted or advertises the route."""
    refuses = verdict.verdict == "deny"
    if policy.direction == "received":
        if not holds:
            return "" if refuses else _not_accepted(policy, path)
        return _OTHERWISE.format("has accepted it") if refuses else ""
    if not holds:
        return "" if refuses else _not_advertised(policy, path)
    return _OTHERWISE.format("advertises it") if refuses else ""


_OTHERWISE = (
    "FRR {}, and the policy as it is configured now refuses it: FRR may have decided before the policy "
    "changed, or by what is not known here."
)


def _not_accepted(policy: PolicyOfNeighbor, path: BgpPath) -> str:
    own = str(policy.peer.bgp.asn)
    if own in re.findall(r"\d+", path.as_path):
        return f"FRR did not accept it: this router's AS {own} is in its AS path."
    return "FRR did not accept it, and does not report whether because of the policy or for another reason."


def _not_advertised(policy: PolicyOfNeighbor, path: BgpPath) -> str:
    communities = set(path.communities or ())
    is_client = policy.peer.sets(policy.family, "route_reflector_client")
    if "no-advertise" in communities:
        return "It has the community no-advertise, so FRR advertises it to nobody."
    if communities & {"no-export", "local-AS"} and not policy.is_internal:
        return "It has the community no-export or local-AS, so FRR keeps it inside this AS."
    if path.is_internal and policy.is_internal and not is_client:
        return "It was learned by iBGP, and is not passed on to a neighbor in the same AS."
    return "FRR does not advertise it, and does not report why."


def unseen(policy: PolicyOfNeighbor, network: IpNetwork) -> str:
    """What can be said of a prefix for which FRR has no route from this neighbor."""
    verdict = policy.verdict(network, None)
    said = f"FRR has accepted no route {network} from this neighbor."
    match verdict.verdict:
        case "deny":
            return f"{said} The policy refuses this prefix whatever its attributes are: {verdict.rule}."
        case "permit":
            return (
                f"{said} The policy permits this prefix whatever its attributes are ({verdict.rule}): the "
                "neighbor does not send it, or FRR refused it for another reason."
            )
    return f"{said} What the policy says of this prefix depends on its attributes: {verdict.rule}."
