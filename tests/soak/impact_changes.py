"""Changes of the lab's router whose result is foretold and measured: those drawn, and those with a name."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from appliance.config.pointer import merge_patch
from lab import addressing as at

Json = dict[str, Any]
Draw = Callable[[random.Random], Json]
WAN4, WAN6 = str(at.WAN.far_v4.ip), str(at.WAN.far_v6.ip)
HELLO_S, DEAD_S, HOLD_S = 1, 4, 4
LONG_S, SHORT_S = HOLD_S + 1.6, 3.0
"""How long is watched: until what refuses a session's packets has ended it, or where it would end at once."""
BASE: Json = {
    "routing": {
        "bfd": {
            "profiles": {
                "watch": {
                    "detect_multiplier": 5,
                    "transmit_interval_ms": 400,
                    "receive_interval_ms": 400,
                }
            }
        },
        "bgp": {
            "peer_groups": {
                "upstream": {"timers": {"keepalive_s": 1, "hold_s": HOLD_S}, "connect_retry_s": 1}
            }
        },
        "ospf": {"interfaces": {"core0": {"hello_interval_s": HELLO_S, "dead_interval_s": DEAD_S}}},
    }
}
"""What the campaign's router has besides the lab's first document: short timers."""
_NAMES = {WAN4: "ipv4_unicast", WAN6: "ipv6_unicast"}
_INTERFACES = ("lan0", "wan0", "core0")
_OWN = {"ipv4": "icmp", "ipv6": "icmpv6"}


@dataclass(frozen=True)
class Case:
    """One round: what is committed first, and the change that is foretold and measured."""

    name: str
    patch: Json
    first: Json = field(default_factory=dict)
    is_rollback: bool = False
    """The change measured is the rollback of ``patch``."""
    is_refused: bool = False
    """The document cannot be committed."""

    @property
    def watched_s(self) -> float:
        """So long what becomes of it is watched."""
        touched = {*self.patch, *(f"routing/{one}" for one in self.patch.get("routing", ()))}
        quick = {"routing", "routing/bgp", "routing/policy", "routing/static"}
        return SHORT_S if touched <= quick else LONG_S


def _neighbor(rng: random.Random, **settings: Any) -> Json:
    return {"routing": {"bgp": {"neighbors": {rng.choice((WAN4, WAN6)): settings}}}}


def _family(rng: random.Random, **settings: Any) -> Json:
    address = rng.choice((WAN4, WAN6))
    return {"routing": {"bgp": {"neighbors": {address: {_NAMES[address]: settings}}}}}


def _limit(rng: random.Random) -> Json:
    address, limits = rng.choice(((WAN4, (10, 999, 1000, 1001)), (WAN6, (5, 49, 50, 51))))
    settings = {"maximum_prefix": rng.choice(limits)}
    return {"routing": {"bgp": {"neighbors": {address: {_NAMES[address]: settings}}}}}


def _session(rng: random.Random) -> Json:
    settings: tuple[Json, ...] = (
        {"enabled": False},
        {"password": "swordfish"},
        {"description": "words"},
        {"ttl_security_hops": 1},
        {"ebgp_multihop": 3},
        {"timers": {"keepalive_s": 2, "hold_s": 9}},
        {"passive": True},
        {"update_source": "wan0"},
        {"remote_asn": rng.choice((at.WAN_AS, 64999))},
        {"bfd_profile": "watch"},
    )
    return _neighbor(rng, **rng.choice(settings))


def _whole_bgp(rng: random.Random) -> Json:
    settings: tuple[Json, ...] = (
        {"router_id": "10.20.0.9"},
        {"ipv4_unicast": {"networks": []}},
        {"ipv6_unicast": {"networks": [str(at.LAN.near_v6.network)]}},
        {"ipv6_unicast": {"networks": []}},
        {"ipv4_unicast": {"redistribute": {"ospf": None}}},
        {"ipv4_unicast": {"redistribute": {"connected": {}}}},
        {"timers": {"keepalive_s": 3, "hold_s": 12}},
    )
    return {"routing": {"bgp": rng.choice(settings)}}


def _ospf(rng: random.Random) -> Json:
    on_core: tuple[Json, ...] = (
        {"passive": True},
        {"hello_interval_s": 2},
        {"dead_interval_s": 7},
        {"cost": 20},
        {"priority": 3},
        {"network_type": "broadcast"},
        {"authentication": {"type": "simple", "key": "secret"}},
        {"bfd_profile": "watch"},
    )
    whole: tuple[Json, ...] = (
        {"router_id": "10.20.0.9"},
        {"default_information": None},
        {"default_information": {"metric": 50}},
        {"redistribute": {"static": {}}},
        {"interfaces": {"lan0": None}},
        {"reference_bandwidth_mbps": 1000},
    )
    drawn = rng.choice((*on_core, *whole))
    return {"routing": {"ospf": drawn if drawn in whole else {"interfaces": {"core0": drawn}}}}


def _rules(rng: random.Random) -> Json:
    rules = [
        {"action": rng.choice(("permit", "permit", "deny")), "family": family, "protocol": protocol}
        for family, own in _OWN.items()
        for protocol in rng.sample(("tcp", "udp", "any", own), rng.randint(0, 3))
    ]
    rng.shuffle(rules)
    return {str(10 * (index + 1)): rule for index, rule in enumerate(rules)}


def _bound(rng: random.Random, rules: Json) -> Json:
    interface, side = rng.choice(_INTERFACES), rng.choice(("acl_in", "acl_out"))
    return {"acls": {"drawn": {"rules": rules}}, "interfaces": {interface: {side: ["drawn"]}}}


def _list(rng: random.Random) -> Json:
    return _bound(rng, _rules(rng))


def _link(rng: random.Random) -> Json:
    settings: tuple[Json, ...] = (
        {"mtu": rng.choice((1300, 1400, 1500, 9000))},
        {"mtu": rng.choice((1300, 1400, 9000))},
        {"enabled": False},
        {"description": "words"},
    )
    return {"interfaces": {rng.choice(_INTERFACES): rng.choice(settings)}}


_LINKS = {"lan0": at.LAN, "wan0": at.WAN, "core0": at.CORE}


def _addresses(rng: random.Random) -> Json:
    name = rng.choice(_INTERFACES)
    near = [str(_LINKS[name].near_v4), str(_LINKS[name].near_v6)]
    drawn = rng.choice((near[:1], near[1:], [*near, "198.51.100.1/24"], [*near, "2001:db8:77::1/64"]))
    return {"interfaces": {name: {"addresses": drawn}}}


def _vlan(rng: random.Random) -> Json:
    vlan = {"type": "sub_interface", "parent": "lan0", "vlan_id": 7, "addresses": ["10.7.0.1/24"]}
    return {"interfaces": {"lan0.7": {**vlan, "enabled": rng.random() < 0.8}}}


_HOPS4 = (WAN4, str(at.CORE.far_v4.ip), str(at.LAN.far_v4.ip))
_HOPS6 = (WAN6, str(at.CORE.far_v6.ip), str(at.LAN.far_v6.ip))
_LED = {
    "203.0.113.0/24": _HOPS4,
    "203.0.113.10/32": _HOPS4,
    "10.30.0.0/24": _HOPS4,
    "10.30.0.10/32": _HOPS4,
    "0.0.0.0/0": _HOPS4,
    "198.51.100.0/24": _HOPS4,
    "2001:db8:f113::/48": _HOPS6,
    "2001:db8:f113::10/128": _HOPS6,
    "2001:db8:130::/64": _HOPS6,
    "::/0": _HOPS6,
}


def _static(rng: random.Random) -> Json:
    prefix, hops = rng.choice(list(_LED.items()))
    if rng.random() < 0.25:
        return {"routing": {"static": {prefix: {"blackhole": True, "next_hops": None}}}}
    return {"routing": {"static": {prefix: {"next_hops": [{"address": rng.choice(hops)}]}}}}


def _static_gone(_: random.Random) -> Json:
    return {"routing": {"static": {str(at.CORE_HOST_PREFIX_V6): None}}}


def _prefix_list(prefix: str, action: str) -> Json:
    family = "ipv6" if ":" in prefix else "ipv4"
    return {"family": family, "rules": {"10": {"action": action, "prefix": prefix}}}


def _policy(rng: random.Random) -> Json:
    host = str(at.WAN_HOST_PREFIX_V4)
    drawn: tuple[Json, ...] = (
        {"prefix_lists": {"bogons": {"rules": {"40": {"action": "permit", "prefix": host}}}}},
        {"prefix_lists": {"bogons": {"rules": {"40": {"action": "permit", "prefix": "198.51.100.0/24"}}}}},
        {"prefix_lists": {"own": {"rules": {"10": {"prefix": "10.10.0.0/16"}}}}},
        {"prefix_lists": {"own": {"rules": {"10": {"action": "deny"}}}}},
        {"prefix_lists": {"own-v6": {"rules": {"20": None}}}},
        {"route_maps": {"from-upstream": {"rules": {"30": None}}}},
        {"route_maps": {"from-upstream": {"rules": {"20": {"set": {"local_preference": 300}}}}}},
        {"route_maps": {"from-upstream-v6": {"rules": {"10": {"action": "deny"}}}}},
        {"route_maps": {"to-upstream": {"rules": {"10": {"set": {"metric": 7}}}}}},
        {"community_lists": {"gold": {"rules": {"10": {"communities": [f"{at.WAN_AS}:200"]}}}}},
    )
    return {"routing": {"policy": rng.choice(drawn)}}


def _listed(rng: random.Random) -> Json:
    """A prefix list, or no route map, for routes of a neighbor."""
    if rng.random() < 0.4:
        return _family(rng, **{rng.choice(("route_map_in", "route_map_out")): None})
    side, action = rng.choice(("prefix_list_in", "prefix_list_out")), rng.choice(("permit", "deny"))
    address = rng.choice((WAN4, WAN6))
    own = at.WAN_HOST_PREFIX_V4 if address == WAN4 else at.WAN_HOST_PREFIX_V6
    every = {"10": {"action": action, "prefix": "::/0" if address == WAN6 else "0.0.0.0/0"}}
    every["10"] |= {"le": 128 if address == WAN6 else 32}  # type: ignore[dict-item]
    listed = _prefix_list(str(own), action) | ({"rules": every} if rng.random() < 0.5 else {})
    neighbors = {address: {_NAMES[address]: {side: "drawn"}}}
    return {"routing": {"policy": {"prefix_lists": {"drawn": listed}}, "bgp": {"neighbors": neighbors}}}


_POOL = {"shared": {"addresses": ["198.51.100.8-198.51.100.9"]}}
_FORWARD = {
    "played": {
        "protocol": "udp",
        "outside_interface": "wan0",
        "outside_port": 7300,
        "inside_address": str(at.LAN.far_v4.ip),
        "inside_port": 7200,
    }
}
MASQUERADED: Json = {"nat": {"inside": ["lan0"], "outside": ["wan0"], "masquerade": ["wan0"]}}
FORWARDED: Json = {"nat": {**MASQUERADED["nat"], "port_forwards": _FORWARD}}
_NATS: tuple[Json, ...] = (
    MASQUERADED,
    FORWARDED,
    {"nat": {"inside": ["lan0", "core0"], "outside": ["wan0"], "masquerade": ["wan0"]}},
    {"nat": {"inside": ["lan0"], "outside": ["wan0"], "pools": _POOL}},
    {
        "nat": {
            **MASQUERADED["nat"],
            "no_nat": {"10": {"source": str(at.LAN.near_v4.network)}},
        }
    },
)
_NAT_CHANGES: tuple[Json, ...] = (
    {"nat": None},
    {"nat": {"masquerade": [], "pools": _POOL}},
    {"nat": {"port_forwards": _FORWARD}},
    {"nat": {"port_forwards": None}},
    {"nat": {"timeouts": {"udp_s": 200}}},
    {"nat": {"no_nat": {"10": {"destination": str(at.WAN_HOST_PREFIX_V4)}}}},
)
_BOND: Json = {
    "interfaces": {
        "port0": {"type": "ethernet", "match": {"mac": at.NIC_MAC["nic-lan"]}},
        "lan0": {"type": "bond", "match": None, "members": ["port0"], "mode": "active-backup"},
    }
}
_PLAIN: tuple[Draw, ...] = (
    _limit,
    _session,
    _session,
    _session,
    _whole_bgp,
    _ospf,
    _ospf,
    _list,
    _list,
    _list,
    _link,
    _link,
    _addresses,
    _vlan,
    _static,
    _static,
    _static_gone,
    _policy,
    _policy,
    _listed,
    lambda rng: rng.choice(_NATS),
)


def drawn(rng: random.Random, dataplane: str) -> Case:
    """A round of this plane."""
    kind = rng.random()
    if kind < 0.55:
        return Case("drawn", rng.choice(_PLAIN)(rng))
    if kind < 0.67:
        several: Json = {}
        for _ in range(rng.randint(2, 3)):
            several = _together(several, rng.choice(_PLAIN)(rng))
        return Case("several", several)
    if kind < 0.77:
        return Case("rollback", rng.choice(_PLAIN)(rng), is_rollback=True)
    if kind < 0.85:
        return Case("nat", rng.choice(_NAT_CHANGES), first=rng.choice((FORWARDED, MASQUERADED)))
    if kind < 0.90:
        rules = _rules(rng)
        first = _bound(rng, {"10": {"action": "permit"}, "20": {"action": "permit", "family": "ipv6"}})
        return Case(
            "rules", {"acls": {"drawn": {"rules": {"5": rules.get("10"), "15": rules.get("20")}}}}, first
        )
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
        _bound(rng, _rules(rng)),
    )
    return Case("bfd", rng.choice(changes), first)


def _together(one: Json, other: Json) -> Json:
    """Both merge patches as one; what the second says of the same leaf counts."""
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
