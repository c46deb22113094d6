"""Changes of the lab's router, drawn at random, whose result is foretold and measured."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from lab import addressing as at
from tests.soak.traffic_flows import ADDRESSES, FORWARDED_PORT, FORWARDS, PORT, Host

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
"""Additions of the campaign's router to the lab's first document: short timers."""
_NAMES = {WAN4: "ipv4_unicast", WAN6: "ipv6_unicast"}
_INTERFACES = ("lan0", "wan0", "core0")
_OWN = {"ipv4": "icmp", "ipv6": "icmpv6"}


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


def rules(rng: random.Random) -> Json:
    rules = [
        {"action": rng.choice(("permit", "permit", "deny")), "family": family, "protocol": protocol}
        for family, own in _OWN.items()
        for protocol in rng.sample(("tcp", "udp", "any", own), rng.randint(0, 3))
    ]
    rng.shuffle(rules)
    return {str(10 * (index + 1)): rule for index, rule in enumerate(rules)}


def bound(rng: random.Random, rules: Json) -> Json:
    interface, side = rng.choice(_INTERFACES), rng.choice(("acl_in", "acl_out"))
    return {"acls": {"drawn": {"rules": rules}}, "interfaces": {interface: {side: ["drawn"]}}}


def _list(rng: random.Random) -> Json:
    return bound(rng, rules(rng))


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
OUTSIDE: dict[str, Host] = {"linux": "wan", "vpp": "lan"}
"""The side of NAT on each plane."""


def _forward(dataplane: str) -> Json:
    outside = OUTSIDE[dataplane]
    forward = {
        "protocol": "udp",
        "outside_interface": f"{outside}0",
        "outside_port": FORWARDED_PORT,
        "inside_address": ADDRESSES[FORWARDS[outside][0], "IPv4"],
        "inside_port": PORT,
    }
    return {"port_forwards": {"played": forward}}


def _masquerade(dataplane: str) -> Json:
    outside = f"{OUTSIDE[dataplane]}0"
    inside = [name for name in _INTERFACES if name != outside]
    return {"inside": inside, "outside": [outside], "masquerade": [outside]}


def nat(rng: random.Random, dataplane: str) -> Json:
    """Of a router without."""
    plain = _masquerade(dataplane)
    drawn: tuple[Json, ...] = (
        plain,
        {**plain, **_forward(dataplane)},
        {**plain, "masquerade": [], "pools": _POOL},
        {**plain, "no_nat": {"10": {"source": str(at.LAN.near_v4.network)}}},
        {**plain, "inside": plain["inside"][:1]},
    )
    return _of_plane(rng.choice(drawn), dataplane)


def _of_plane(settings: Json, dataplane: str) -> Json:
    """VPP's NAT wants no neighbor that sends with a TTL of 1, and is told that ours does not."""
    farther = {"routing": {"bgp": {"neighbors": {WAN4: {"ebgp_multihop": 2}}}}}
    return {"nat": settings, **(farther if dataplane == "vpp" else {})}


def nat_changed(rng: random.Random, dataplane: str) -> tuple[Json, Json]:
    """Of a router with: that, and the change."""
    forward = _forward(dataplane)
    first = {**_masquerade(dataplane), **(forward if rng.random() < 0.5 else {})}
    changes: tuple[Json | None, ...] = (
        None,
        {"masquerade": [], "pools": _POOL},
        forward,
        {"port_forwards": None},
        {"timeouts": {"udp_s": 200}},
        {"no_nat": {"10": {"destination": str(at.WAN_HOST_PREFIX_V4)}}},
    )
    return _of_plane(first, dataplane), {"nat": rng.choice(changes)}


PLAIN: tuple[Draw, ...] = (
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
)
