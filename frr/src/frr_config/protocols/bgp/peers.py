"""Neighbors and peer groups as bgpd's lines name them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import ip_address

from frr_config.line import Holders, Line
from frr_config.step import Command
from frr_config.syntax import NONE, ObjectKey

_FILTERS = " prefix-list "
_FAMILY = re.compile("address-family (ipv[46]) unicast")


@lru_cache(maxsize=4096)
def is_address(name: str) -> bool:
    """True for a neighbor's address, False for the name of a peer group."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def reset_of(neighbors: Iterable[str], where: str = "") -> str:
    """The impact text of resetting these neighbors; ``where`` says the VRF."""
    names = sorted(neighbors)
    if not names:
        return NONE
    return f"resets bgp neighbor{'s' if len(names) > 1 else ''} {', '.join(names)}{where}"


def neighbors_in(root: str, holders: Holders) -> set[str]:
    """Addresses of the neighbors of an instance."""
    names = (_peer_of(line) for line in holders if line.context[:1] == (root,))
    return {name for name in names if name is not None and is_address(name)}


def members_of(group: ObjectKey, holders: Holders) -> set[str]:
    """Addresses of the neighbors in a peer group."""
    ends = f" peer-group {group.name}"
    return {
        line.text.split()[1] for line in holders if line.context == (group.root,) and line.text.endswith(ends)
    }


def filtered_by(before: Holders, after: Holders) -> dict[tuple[str, str], list[Command]]:
    """Soft clears of the neighbors whose received routes a prefix list filters, in both configurations.

    By family and name of the list. bgpd applies changed route maps, and the objects they name, automatically
    after its policy delay. It does not filter received routes again when a prefix list of ``neighbor ...
    prefix-list ... in`` changes. A soft clear asks the neighbor for its routes again (RFC 2918); it is no
    reset.
    """
    clears: dict[tuple[str, str], list[Command]] = {}
    for line in sorted(line for line in before if _FILTERS in line.text and line in after):
        start, _, prefix_list = line.text.removesuffix(" in").partition(_FILTERS)
        family = _FAMILY.fullmatch("".join(line.context[1:]))
        if family is None or not line.text.endswith(" in"):
            continue
        neighbor = start.split()[1]
        who = neighbor if is_address(neighbor) else f"peer-group {neighbor}"
        _, _, vrf = line.context[0].partition(" vrf ")
        instance = f"vrf {vrf} " if vrf else ""
        clear = Command(("bgpd",), (), f"clear bgp {instance}{family[1]} unicast {who} soft in", "exec")
        clears.setdefault((family[1], prefix_list), []).append(clear)
    return clears


def _peer_of(line: Line) -> str | None:
    words = line.text.removeprefix("no ").split(" ", 2)
    return words[1] if words[0] == "neighbor" and len(words) > 2 else None
