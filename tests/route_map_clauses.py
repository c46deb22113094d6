"""A route map with every clause there is, each in a rule of its own, and what a daemon tells of it."""

from __future__ import annotations

import json
from typing import Any

from frr_config.protocols.policy.clauses import Clause, fields

NAME = "every-clause"
POLICY: dict[str, Any] = {
    "prefix_lists": {
        "of-v4": {"rules": {"5": {"action": "permit", "prefix": "10.0.0.0/8", "le": 32}}},
        "of-v6": {
            "family": "ipv6",
            "rules": {"5": {"action": "permit", "prefix": "2001:db8::/32", "le": 64}},
        },
    },
    "as_path_lists": {"paths": {"rules": {"5": {"action": "permit", "regex": "^65001_"}}}},
    "community_lists": {"tags": {"rules": {"5": {"action": "permit", "communities": ["65001:100"]}}}},
}
_VALUES: dict[str, dict[str, Any]] = {
    "match": {
        "prefix_list": "of-v4",
        "ipv6_prefix_list": "of-v6",
        "as_path_list": "paths",
        "community_list": "tags",
        "metric": 5,
        "tag": 7,
        "source_protocol": "connected",
    },
    "set": {
        "local_preference": 200,
        "metric": 9,
        "metric_type": "type-1",
        "weight": 5,
        "origin": "igp",
        "next_hop": "10.9.0.7",
        "ipv6_next_hop": "2001:db8::7",
        "tag": 9,
        "as_path_prepend": [64512],
        "communities": ["65001:5"],
        "large_communities": ["65001:1:1"],
    },
}


def policy(interface: str, source: str) -> dict[str, Any]:
    """A document's policy with the map; ``source`` is an address of the router."""
    rules = {
        str(10 * at): {"action": "permit", clause.part: {clause.field: _value(clause, interface, source)}}
        for at, clause in enumerate(fields(), 1)
    }
    return {**POLICY, "route_maps": {NAME: {"rules": rules}}}


def _value(clause: Clause, interface: str, source: str) -> Any:
    own = {Clause("match", "interface"): interface, Clause("set", "source"): source}
    return own[clause] if clause in own else _VALUES[clause.part][clause.field]


def told(answer: str) -> set[Clause]:
    """The clauses that count, by a daemon's answer to ``show route-map every-clause json``."""
    maps = json.loads(answer)
    found = maps.get(NAME) or next(iter(maps.values()))[NAME]
    counted = {
        rule["sequenceNumber"] for rule in found["rules"] if rule["matchClauses"] or rule["setClauses"]
    }
    return {clause for at, clause in enumerate(fields(), 1) if 10 * at in counted}
