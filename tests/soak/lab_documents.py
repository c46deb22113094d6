"""Random documents for a lab that must go on forwarding: its first document, and much around it.

What a round commits depends on the seed and the round alone, so that one round can be run again.
"""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

from appliance.config.capabilities import Capabilities
from appliance.config.load import parse_document
from appliance.config.validate import require_valid
from appliance.errors import ValidationFailed
from lab import addressing as at
from lab.initial_document import build
from lab.namespaces import Dataplane
from tests.property.documents import random_document
from tests.property.meant_clauses import only_meant
from tests.property.routing_documents import random_routing

Json = dict[str, Any]

DENIED_HOST = "203.0.113.11"
"""A second address of the WAN host; documents that carry the access list ``soak`` keep the LAN from it."""
_ATTEMPTS = 50


def random_lab_document(rng: random.Random, capabilities: Capabilities, mark: str) -> Json:
    """A valid document whose banner is ``mark``; hosts reach each other as under the lab's first document."""
    dataplane: Dataplane = "vpp" if capabilities.driver == "vpp" else "linux"
    for _ in range(_ATTEMPTS):
        document = build(dataplane)
        _add_interfaces_and_lists(rng, capabilities, document)
        _add_routing(rng, document)
        _maybe_deny(rng, document)
        document["system"]["banner"] = mark
        try:
            config = only_meant(parse_document(document), capabilities)
            maps = config.routing.policy.model_dump(mode="json", exclude_unset=True)["route_maps"]
            document["routing"]["policy"]["route_maps"] = maps
            require_valid(config, capabilities)
        except ValidationFailed:
            continue  # two random halves do not always fit together
        return document
    raise AssertionError(
        f"no valid document in {_ATTEMPTS} attempts: the generator does not fit the validation"
    )


def denies(document: Json) -> bool:
    """Whether the document keeps the LAN from DENIED_HOST."""
    return "soak" in document["interfaces"]["lan0"].get("acl_in", ())


def _add_interfaces_and_lists(rng: random.Random, capabilities: Capabilities, document: Json) -> None:
    drawn = random_document(rng, capabilities, nics=()).model_dump(mode="json", exclude_defaults=True)
    document["system"] |= {
        key: value for key, value in drawn.get("system", {}).items() if key != "drift_policy"
    }
    document["interfaces"] |= drawn.get("interfaces", {})
    document["acls"] = drawn.get("acls", {})
    for name in ("lan0", "wan0", "core0"):
        if rng.random() < 0.5:
            document["interfaces"][name]["description"] = rng.choice(["to the east", "R1/R2: 10G", "x" * 60])


def _add_routing(rng: random.Random, document: Json) -> None:
    near = {"lan0": [str(at.LAN.near_v4), str(at.LAN.near_v6)]}
    drawn = random_routing(rng, near).model_dump(mode="json", exclude_defaults=True)
    routing = document["routing"]
    for kind, entries in drawn.get("policy", {}).items():
        routing["policy"][kind] = {**entries, **routing["policy"].get(kind, {})}
    for _ in range(rng.randint(0, 12)):
        prefix = f"100.{rng.randint(64, 127)}.{rng.randint(0, 255)}.0/24"
        hop = rng.choice(["10.20.0.2", "10.10.0.2", "192.0.2.1"])
        route: Json = {"next_hops": [{"address": hop}]}
        routing["static"][prefix] = {"blackhole": True} if rng.random() < 0.2 else route
    bgp = drawn.get("bgp") or {}
    if bgp.get("asn") == at.ROUTER_AS:
        routing["bgp"]["peer_groups"] |= bgp.get("peer_groups", {})
        routing["bgp"]["neighbors"] |= deepcopy(bgp.get("neighbors", {}))


def _maybe_deny(rng: random.Random, document: Json) -> None:
    rules: Json = {
        str(number): {"action": "deny", "family": "ipv4", "source": f"198.51.100.{number}/32"}
        for number in range(1, rng.randint(1, 20))
    }
    rules["100"] = {"action": "deny", "family": "ipv4", "destination": f"{DENIED_HOST}/32"}
    rules["65000"] = {"action": "permit", "family": "ipv4"}
    rules["65001"] = {"action": "permit", "family": "ipv6"}
    document["acls"]["soak"] = {"rules": rules}
    if rng.random() < 0.5:
        document["interfaces"]["lan0"]["acl_in"] = ["soak"]
