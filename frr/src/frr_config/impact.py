"""What a change does to sessions that are up, as seen in bgpd and ospfd (tests/integration/frr)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from frr_config.config import Line
from frr_config.objects import ObjectKey, object_of
from frr_config.ownership import Daemons

NONE = "none"
_RESETS_NEIGHBOR = re.compile(
    r"neighbor \S+ (?:remote-as|peer-group|shutdown|password|passive|ebgp-multihop|ttl-security|"
    r"update-source|activate|route-reflector-client)"
)
_RESETS_ALL_NEIGHBORS = re.compile(r"bgp router-id ")
_RESETS_OSPF = re.compile(r"ospf router-id |area \S+ (?:stub|nssa)")
_RESETS_OSPF_INTERFACE = re.compile(
    r"ip ospf (?:area|network|hello-interval|dead-interval|authentication|message-digest-key|passive)"
)

Holders = Mapping[Line, Daemons]


def impact_of(key: ObjectKey, changed: Iterable[Line], before: Holders, after: Holders) -> str:
    """Of a change to an existing object; ``before`` and ``after`` are the whole configurations."""
    texts = [line.text for line in changed]
    match key.kind:
        case "neighbor":
            return bgp_reset([key.name]) if _any(_RESETS_NEIGHBOR, texts) else NONE
        case "peer_group":
            members = members_of(key, before) & members_of(key, after)
            return bgp_reset(members) if _any(_RESETS_NEIGHBOR, texts) else NONE
        case "bgp":
            kept = neighbors_in(key.root, before) & neighbors_in(key.root, after)
            return bgp_reset(kept) if _any(_RESETS_ALL_NEIGHBORS, texts) else NONE
        case "ospf":
            return "resets ospf" if _any(_RESETS_OSPF, texts) else NONE
        case "ospf_interface":
            return f"resets ospf on {key.name}" if _any(_RESETS_OSPF_INTERFACE, texts) else NONE
        case _:
            return NONE


def impact_of_removal(key: ObjectKey, before: Holders) -> str:
    """Of removing an object."""
    match key.kind:
        case "neighbor":
            return bgp_reset([key.name])
        case "peer_group":
            return NONE  # its members went before it, each with a step of its own
        case "bgp":
            return bgp_reset(neighbors_in(key.root, before)) if key.root else NONE
        case "ospf":
            return "resets ospf"
        case "ospf_interface":
            return f"resets ospf on {key.name}"
        case _:
            return NONE


def bgp_reset(neighbors: Iterable[str]) -> str:
    """The impact text of resetting these neighbors."""
    names = sorted(neighbors)
    if not names:
        return NONE
    return f"resets bgp neighbor{'s' if len(names) > 1 else ''} {', '.join(names)}"


def neighbors_in(root: str, holders: Holders) -> set[str]:
    """Addresses of the neighbors of an instance."""
    keys = (object_of(line) for line in holders if line.context[:1] == (root,))
    return {key.name for key in keys if key.kind == "neighbor"}


def members_of(group: ObjectKey, holders: Holders) -> set[str]:
    """Addresses of the neighbors in a peer group."""
    ends = f" peer-group {group.name}"
    return {
        line.text.split()[1] for line in holders if line.context == (group.root,) and line.text.endswith(ends)
    }


def _any(pattern: re.Pattern[str], texts: Iterable[str]) -> bool:
    return any(pattern.match(text) for text in texts)
