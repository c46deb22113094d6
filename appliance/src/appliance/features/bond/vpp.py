"""Bonds in VPP. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from appliance.config.pointer import join
from appliance.dataplane.vpp.numbers import stable_numbers
from appliance.dataplane.wanted import Wanted
from appliance.errors import Problem, ValidationFailed
from appliance.features.bond.model import Bond, HashPolicy, Mode
from vpp_config import VppObject
from vpp_config.objects import bond as vpp
from vpp_config.objects.bond_member import BondMember

PATHS = {
    vpp.Bond.kind: lambda name: join(["interfaces", name]),
    BondMember.kind: lambda name: join(["interfaces", name]),
}
_MODES: Mapping[Mode, vpp.BondMode] = {
    "802.3ad": "lacp",
    "active-backup": "active_backup",
    "balance-xor": "xor",
}
_HASHES: Mapping[HashPolicy, vpp.LoadBalance] = {"layer2": "l2", "layer2+3": "l23", "layer3+4": "l34"}
_PRIMARY_WEIGHT = 100
_MAX_BONDS = 16384


def objects(wanted: Wanted) -> Iterator[VppObject]:
    """The bond, and its present members. Raises ValidationFailed for one whose NIC would be lost."""
    bonds = dict(wanted.config.interfaces_of(Bond))
    numbers = stable_numbers(bonds, _MAX_BONDS)
    for name, bond in bonds.items():
        yield vpp.Bond(
            name,
            numbers[name],
            _MODES[bond.mode],
            wanted.mac(name),
            None if bond.mode == "active-backup" else _HASHES[bond.hash_policy],
            mtu=bond.mtu,
            enabled=bond.enabled,
        )
        for member in bond.members:
            if member in wanted.config.interfaces:
                _require_a_lasting_name(member, wanted)
                yield BondMember(
                    name,
                    member,
                    long_timeout=bond.mode == "802.3ad" and bond.lacp_rate == "slow",
                    weight=_PRIMARY_WEIGHT if member == bond.primary else 0,
                )


def _require_a_lasting_name(member: str, wanted: Wanted) -> None:
    """VPP gives the NIC the bond's MAC address. A virtual one then has no other to be identified by."""
    match, nic = wanted.config.interfaces[member].nic, wanted.nics[member]
    if match is not None and match.mac is not None and nic.kind is not None:
        message = (
            f"{nic.device} is a {nic.kind} without a permanent MAC address, and takes the bond's while it is"
            " a member: match it by device"
        )
        raise ValidationFailed([Problem(join(["interfaces", member, "match", "mac"]), message)])
