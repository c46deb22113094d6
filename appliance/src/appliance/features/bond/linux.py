"""Bonds in the kernel. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from appliance.dataplane.kernel_need import KernelNeed
from appliance.dataplane.linux.objects import LinuxObject
from appliance.dataplane.linux.objects.bond_link import BondLink
from appliance.dataplane.linux.objects.bond_member import BondMember
from appliance.dataplane.wanted import Wanted
from appliance.features.bond.model import Bond

NEEDS = (KernelNeed("bond", "bond", "this machine's kernel has no bonding driver, so there are no bonds"),)


def objects(wanted: Wanted) -> Iterator[LinuxObject]:
    """The bond, and its members that are present."""
    for name, bond in wanted.config.interfaces_of(Bond):
        lacp = bond.mode == "802.3ad"
        yield BondLink(
            name,
            bond.mode,
            wanted.mac(name),
            None if bond.mode == "active-backup" else bond.hash_policy,
            bond.lacp_rate if lacp else None,
            bond.minimum_links if lacp else 1,
            bond.mtu,
            bond.enabled,
        )
        for member in bond.members:
            if member in wanted.config.interfaces:
                yield BondMember(name, member, member == bond.primary)
