"""What bgpd cannot change on a neighbor or peer group that exists without losing other settings."""

from __future__ import annotations

from collections.abc import Mapping

from frr_config.config import Line
from frr_config.objects import ObjectKey, is_address
from frr_config.ownership import Daemons

Identity = tuple[str, ...]


def identities(holders: Mapping[Line, Daemons]) -> dict[ObjectKey, Identity]:
    """For each neighbor and peer group: its remote AS, and of its group the name, remote AS and families.

    A new remote AS makes bgpd forget multihop settings; a peer group that gets or loses its remote AS, or
    a family, takes its members with it; a neighbor cannot change its group while it keeps its settings.
    All of these reset the session in any case.
    """
    remote_as: dict[tuple[str, str], str] = {}
    group_of: dict[tuple[str, str], str] = {}
    families: dict[tuple[str, str], list[str]] = {}
    names: dict[tuple[str, str], None] = {}
    for line in holders:
        if not line.text.startswith("neighbor ") or not line.context:
            continue
        words = line.text.split()
        peer = (line.context[0], words[1])
        names[peer] = None
        if words[2] == "remote-as":
            remote_as[peer] = words[3]
        elif words[2] == "peer-group" and len(words) > 3:
            group_of[peer] = words[3]
        elif words[2:] == ["activate"]:
            families.setdefault(peer, []).append(line.context[-1])
    found: dict[ObjectKey, Identity] = {}
    for root, name in names:
        own = remote_as.get((root, name), "")
        if not is_address(name):
            found[ObjectKey("peer_group", root, name)] = (own,)
            continue
        group = group_of.get((root, name))
        of_group = () if group is None else (group, remote_as.get((root, group), ""))
        shared = () if group is None else sorted(families.get((root, group), []))
        found[ObjectKey("neighbor", root, name)] = (own, *of_group, *shared)
    return found
