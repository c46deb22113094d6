"""The first document of the lab's router, so that a newcomer sees a working router.

It is committed through the agent like any user's document, and shows the main features: BGP with a peer
group, both families and policy in both directions (RFC 8212), OSPF, static routes and an access list.
"""

from typing import Any

from lab import addressing as at
from lab.namespaces import Dataplane


def build(dataplane: Dataplane) -> dict[str, Any]:
    """The document as JSON."""
    return {
        "schema_version": 1,
        "system": {"hostname": "millrace-lab"},
        "dataplane": {"driver": dataplane},
        "interfaces": {
            "lan0": _ethernet("nic-lan", "LAN: the host 10.10.0.2", at.LAN),
            "wan0": _ethernet("nic-wan", "WAN: eBGP with AS 65001", at.WAN),
            "core0": _ethernet("nic-core", "Core: OSPF area 0", at.CORE),
        },
        "routing": {
            "static": {
                str(at.CORE_HOST_PREFIX_V6): {"next_hops": [{"address": str(at.CORE.far_v6.ip)}]},
            },
            "bgp": _bgp(),
            "ospf": {
                "router_id": at.ROUTER_ID,
                "interfaces": {
                    "lan0": {"area": "0.0.0.0", "passive": True},
                    "core0": {
                        "area": "0.0.0.0",
                        "network_type": "point-to-point",
                        "cost": 10,
                        "hello_interval_s": at.OSPF_HELLO_S,
                        "dead_interval_s": at.OSPF_DEAD_S,
                    },
                },
                "default_information": {"always": True, "metric": 10},
            },
            "policy": _policy(),
        },
    }


def _ethernet(nic: str, description: str, link: at.Ends) -> dict[str, Any]:
    return {
        "type": "ethernet",
        "description": description,
        "match": {"mac": at.NIC_MAC[nic]},
        "addresses": [str(link.near_v4), str(link.near_v6)],
    }


def _bgp() -> dict[str, Any]:
    return {
        "asn": at.ROUTER_AS,
        "router_id": at.ROUTER_ID,
        "peer_groups": {
            "upstream": {
                "remote_asn": at.WAN_AS,
                "connect_retry_s": 5,
                "timers": {"keepalive_s": 10, "hold_s": 60},
            },
        },
        "neighbors": {
            str(at.WAN.far_v4.ip): {
                "peer_group": "upstream",
                "description": "WAN peer, IPv4",
                "ipv4_unicast": {
                    "route_map_in": "from-upstream",
                    "route_map_out": "to-upstream",
                    "maximum_prefix": 5000,
                },
            },
            str(at.WAN.far_v6.ip): {
                "peer_group": "upstream",
                "description": "WAN peer, IPv6",
                "ipv6_unicast": {
                    "route_map_in": "from-upstream-v6",
                    "route_map_out": "to-upstream-v6",
                    "maximum_prefix": 1000,
                },
            },
        },
        "ipv4_unicast": {
            "networks": [str(at.LAN.near_v4.network)],
            "redistribute": {"ospf": {}},
        },
        "ipv6_unicast": {
            "networks": [str(at.LAN.near_v6.network), str(at.CORE_HOST_PREFIX_V6)],
        },
    }


def _policy() -> dict[str, Any]:
    return {
        "prefix_lists": {
            "own": {
                "description": "What this router may announce",
                "rules": {"10": {"action": "permit", "prefix": "10.0.0.0/8", "le": 24}},
            },
            "own-v6": {
                "family": "ipv6",
                "description": "What this router may announce",
                "rules": {
                    "10": {"action": "permit", "prefix": str(at.LAN.near_v6.network)},
                    "20": {"action": "permit", "prefix": str(at.CORE_HOST_PREFIX_V6)},
                },
            },
            "bogons": {
                "description": "What no upstream may tell us",
                "rules": {
                    "10": {"action": "permit", "prefix": "0.0.0.0/0"},
                    "20": {"action": "permit", "prefix": "10.0.0.0/8", "le": 32},
                    "30": {"action": "permit", "prefix": "127.0.0.0/8", "le": 32},
                },
            },
        },
        "community_lists": {
            "gold": {"rules": {"10": {"action": "permit", "communities": [f"{at.WAN_AS}:100"]}}},
        },
        "route_maps": {
            "from-upstream": {
                "rules": {
                    "10": {"action": "deny", "match": {"prefix_list": "bogons"}},
                    "20": {
                        "action": "permit",
                        "match": {"community_list": "gold"},
                        "set": {"local_preference": 200},
                    },
                    "30": {"action": "permit"},
                }
            },
            "to-upstream": {"rules": {"10": {"action": "permit", "match": {"prefix_list": "own"}}}},
            "from-upstream-v6": {"rules": {"10": {"action": "permit"}}},
            "to-upstream-v6": {
                "rules": {"10": {"action": "permit", "match": {"ipv6_prefix_list": "own-v6"}}}
            },
        },
    }
