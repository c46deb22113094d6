"""The rounds of the calibration campaign: those drawn from seed and number, and those with a name."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from appliance.config.pointer import merge_patch
from lab import addressing as at
from tests.soak.impact_changes import LONG_S, PLAIN, SHORT_S, WAN4, Draw, bound, nat, nat_changed, rules

Json = dict[str, Any]
_BOND: Json = {
    "interfaces": {
        "port0": {"type": "ethernet", "match": {"mac": at.NIC_MAC["nic-lan"]}},
        "lan0": {"type": "bond", "match": None, "members": ["port0"], "mode": "active-backup"},
    }
}


@dataclass(frozen=True)
class Case:
    """One round: the document committed first, and the change that is foretold and measured."""

    name: str
    patch: Json
    first: Json = field(default_factory=dict)
    is_rollback: bool = False
    """The change measured is the rollback of ``patch``."""
    is_refused: bool = False
    """The document cannot be committed."""


def watched_s(patch: Json) -> float:
    """How long the effect of a change is watched."""
    touched = {*patch, *(f"routing/{one}" for one in patch.get("routing", ()))}
    return SHORT_S if touched <= {"routing", "routing/bgp", "routing/policy", "routing/static"} else LONG_S


def drawn(rng: random.Random, dataplane: str) -> Case:
    """A round of this plane."""
    plain: tuple[Draw, ...] = (*PLAIN, lambda rng: nat(rng, dataplane))
    kind = rng.random()
    if kind < 0.55:
        return Case("drawn", rng.choice(plain)(rng))
    if kind < 0.67:
        several: Json = {}
        for _ in range(rng.randint(2, 3)):
            several = _together(several, rng.choice(plain)(rng))
        return Case("several", _agreeing(several))
    if kind < 0.77:
        return Case("rollback", rng.choice(plain)(rng), is_rollback=True)
    if kind < 0.85:
        first, change = nat_changed(rng, dataplane)
        return Case("nat", change, first)
    if kind < 0.90:
        new = rules(rng)
        first = bound(rng, {"10": {"action": "permit"}, "20": {"action": "permit", "family": "ipv6"}})
        return Case("rules", {"acls": {"drawn": {"rules": {"5": new.get("10"), "15": new.get("20")}}}}, first)
    if kind < 0.95 or dataplane != "vpp":
        return _watched(rng)
    if rng.random() < 0.5:
        return Case("bond", _BOND)
    changes = ({"interfaces": {"port0": {"enabled": False}}}, {"interfaces": {"lan0": {"mtu": 1400}}})
    return Case("bond", rng.choice(changes), first=_BOND)


def _watched(rng: random.Random) -> Case:
    """A change where BFD runs."""
    first = {"routing": {"bgp": {"neighbors": {WAN4: {"bfd_profile": "watch"}}}}}
    changes: tuple[Json, ...] = (
        {"routing": {"bgp": {"neighbors": {WAN4: {"bfd_profile": None}}}}},
        {"routing": {"bfd": {"profiles": {"watch": {"transmit_interval_ms": 600}}}}},
        {"routing": {"bfd": {"profiles": {"watch": {"receive_interval_ms": 600, "detect_multiplier": 4}}}}},
        {"routing": {"bgp": {"neighbors": {WAN4: {"ttl_security_hops": 1}}}}},
        bound(rng, rules(rng)),
    )
    return Case("bfd", rng.choice(changes), first)


def _agreeing(several: Json) -> Json:
    """Without what the document refuses beside another one of them."""
    bgp = (several.get("routing") or {}).get("bgp") or {}
    for settings in (bgp.get("neighbors") or {}).values():
        if settings and settings.get("ebgp_multihop"):
            settings.pop("ttl_security_hops", None)
    return several


def _together(one: Json, other: Json) -> Json:
    """Both merge patches as one; for the same leaf the second one counts."""
    both = dict(one)
    for key, value in other.items():
        known = both.get(key)
        both[key] = _together(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return both


def undone(document: Json, patch: Json) -> Json:
    """The merge patch that takes ``patch`` back from ``document``."""
    back: Json = {}
    for key, value in patch.items():
        was = document.get(key)
        back[key] = undone(was, value) if isinstance(was, dict) and isinstance(value, dict) else was
    return back


def patched(document: Json, patch: Json) -> Json:
    """The document with the patch."""
    changed: Json = merge_patch(document, patch)
    return changed


FIRST_LIST: Json = {
    "acls": {
        "lan-in": {"rules": {"10": {"action": "deny", "protocol": "icmp"}, "20": {"action": "permit"}}},
    },
    "interfaces": {"lan0": {"acl_in": ["lan-in"]}},
}
_BOUND_LIST: Json = {
    "acls": {"lan-in": {"rules": {"10": {"action": "permit"}, "20": {"action": "permit", "family": "ipv6"}}}},
    "interfaces": {"lan0": {"acl_in": ["lan-in"]}},
}
NAMED: tuple[Case, ...] = (
    Case(
        "maximum prefixes 5000 to 10, with 1,000 received",
        {"routing": {"bgp": {"neighbors": {WAN4: {"ipv4_unicast": {"maximum_prefix": 10}}}}}},
    ),
    Case("a first access list on lan0: deny icmp, permit any, of IPv4", FIRST_LIST),
    Case("MTU 1500 to 1300", {"interfaces": {"wan0": {"mtu": 1300}}}),
    Case(
        "deny any as the first rule of a bound list",
        {"acls": {"lan-in": {"rules": {"5": {"action": "deny"}}}}},
        first=_BOUND_LIST,
    ),
    Case(
        "a document that cannot be committed",
        {"interfaces": {"lan0": {"acl_in": ["missing"]}}},
        is_refused=True,
    ),
)
"""What plans once called harmless."""
