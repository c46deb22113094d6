"""Bonds: which members pass packets, and what LACP knows about the other end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from appliance.state.part import Answer, Everything, Part, Table

if TYPE_CHECKING:
    from appliance.agent.router import Router
    from appliance.dataplane.looking import KernelLooking, VppLooking

_ADMIN_UP, _LINK_UP, _LOWER_UP = 1, 2, 0x10000
_ALL = 0xFFFFFFFF
_MODES = {1: "active-backup", 2: "balance-xor", 4: "802.3ad"}
_VPP_MODES = {2: "active-backup", 3: "balance-xor", 5: "802.3ad"}
_NOBODY = "00:00:00:00:00:00"
_FLAGS = (
    *("activity", "short_timeout", "aggregation", "synchronization"),
    *("collecting", "distributing", "defaulted", "expired"),
)
"""Bits of an LACP port's state (IEEE 802.1AX, 6.4.2.3), lowest first."""
_PASSING = {"collecting", "distributing"}
_SILENT = {"defaulted", "expired"}
"""This end waited in vain for a packet from the other end."""
_COUNTED = ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes")


class LacpPort(Answer):
    """One end of a member, as LACP has it (IEEE 802.1AX)."""

    system: str = Field(description="MAC address of the system.")
    key: int
    port: int | None = None
    flags: tuple[str, ...] | None = Field(
        None,
        description="What its state says, such as collecting; null where the data plane does not report it.",
    )


class BondMemberState(Answer):
    """A member of a bond."""

    bond: str
    interface: str
    state: Literal["active", "standby", "waiting", "down", "unknown"] = Field(
        description="active: packets are sent by it. standby: another one is used. waiting: LACP has not"
        " agreed with the other end. unknown: the data plane does not report it."
    )
    reason: str = Field("", description="Why it is not active, as far as the data plane reports it.")
    actor: LacpPort | None = Field(None, description="This end, in mode 802.3ad.")
    partner: LacpPort | None = Field(None, description="The other end; null while nothing comes from it.")
    rx_packets: int | None = None
    rx_bytes: int | None = None
    tx_packets: int | None = None
    tx_bytes: int | None = None

    @property
    def partner_system(self) -> str | None:
        """The other end's MAC address."""
        return None if self.partner is None else self.partner.system


class BondState(Answer):
    """A bond and its members."""

    name: str
    mode: str
    active_members: int
    members: tuple[BondMemberState, ...] = ()


class Bonds(Answer):
    """Every bond."""

    bonds: tuple[BondState, ...]

    @property
    def members(self) -> tuple[BondMemberState, ...]:
        """Of all bonds."""
        return tuple(member for bond in self.bonds for member in bond.members)

    def members_of(self, bond: str) -> tuple[BondMemberState, ...]:
        """Of one bond; none where there is no such bond."""
        return tuple(member for member in self.members if member.bond == bond)


def _read(router: Router, _: Everything) -> Bonds:
    bonds = router.dataplane.look(vpp=on_vpp, linux=in_the_kernel)
    counters: Mapping[str, Mapping[str, int]] = router.dataplane.counters()["interfaces"] if bonds else {}
    return Bonds(bonds=tuple(_counted(bond, counters) for bond in bonds))


def _counted(bond: BondState, counters: Mapping[str, Mapping[str, int]]) -> BondState:
    members = tuple(
        member.model_copy(update={name: counters[member.interface][name] for name in _COUNTED})
        if member.interface in counters
        else member
        for member in bond.members
    )
    return bond.model_copy(update={"members": members})


# -- VPP


def on_vpp(vpp: VppLooking) -> tuple[BondState, ...]:
    """Our bonds. Raises VppError."""
    client, names = vpp.client, vpp.names()
    bonds = [
        row for row in client.dump("sw_bond_interface_dump", sw_if_index=_ALL) if row.sw_if_index in names
    ]
    if not bonds:
        return ()
    flags = {row.sw_if_index: int(row.flags) for row in client.dump("sw_interface_dump", sw_if_index=_ALL)}
    lacp = {row.sw_if_index: row for row in client.dump("sw_interface_lacp_dump")} if _has_lacp(bonds) else {}
    # Only the command line shows which members are in use.
    used = used_members(str(client.call("cli_inband", cmd="show bond details").reply))
    found = []
    for bond in bonds:
        name, mode = names[bond.sw_if_index], _VPP_MODES.get(int(bond.mode), "another mode")
        members = tuple(
            _on_vpp(
                name,
                mode,
                names[row.sw_if_index],
                flags.get(row.sw_if_index, 0),
                lacp.get(row.sw_if_index),
                _place(row.interface_name, used.get(bond.interface_name)),
            )
            for row in client.dump("sw_member_interface_dump", sw_if_index=bond.sw_if_index)
            if row.sw_if_index in names
        )
        active = sum(member.state == "active" for member in members)
        found.append(BondState(name=name, mode=mode, active_members=active, members=members))
    return tuple(sorted(found, key=lambda bond: bond.name))


def _has_lacp(bonds: list[Any]) -> bool:
    return any(_VPP_MODES.get(int(bond.mode)) == "802.3ad" for bond in bonds)


def used_members(text: str) -> dict[str, list[str]]:
    """VPP's names of the members in use, in their order, by VPP's name of the bond.

    ``text`` is what ``show bond details`` prints; a bond with unexpected lines is left out.
    """
    found: dict[str, list[str]] = {}
    for block in re.split(r"^(?=\S)", text, flags=re.MULTILINE):
        bond, _, rest = block.partition("\n")
        head = re.search(r"^ {2}number of active members: (\d+)$", rest, re.MULTILINE)
        if head is None:
            continue
        after = rest[head.end() :].partition("\n  number of members")[0]
        names = re.findall(r"^ {4}(\S+)$", after, re.MULTILINE)
        if len(names) == int(head[1]):
            found[bond.strip()] = names
    return found


def _place(vpp_name: str, used: list[str] | None) -> int | None:
    """The member's place among those in use, -1 for one that is not; None if unknown."""
    if used is None:
        return None
    return used.index(vpp_name) if vpp_name in used else -1


def _on_vpp(bond: str, mode: str, member: str, flags: int, lacp: Any, place: int | None) -> BondMemberState:
    state: Literal["active", "standby", "waiting", "down", "unknown"]
    reason = ""
    actor = partner = None
    if lacp is not None:
        actor, partner = _port("actor", lacp), _port("partner", lacp)
    if not flags & _ADMIN_UP or not flags & _LINK_UP:
        state, reason = "down", "it is disabled" if not flags & _ADMIN_UP else "it has no link"
    elif place is None:
        state = "unknown"
    elif place == 0 or (place > 0 and mode != "active-backup"):
        state = "active"
    elif place > 0:
        state, reason = "standby", "another member is used"
    else:
        state, reason = "waiting", _not_agreed(actor, partner)
    return BondMemberState(
        bond=bond, interface=member, state=state, reason=reason, actor=actor, partner=partner
    )


def _port(side: str, row: Any) -> LacpPort | None:
    system = str(getattr(row, f"{side}_system"))
    if system == _NOBODY:
        return None
    bits = int(getattr(row, f"{side}_state"))
    return LacpPort(
        system=system,
        key=int(getattr(row, f"{side}_key")),
        port=int(getattr(row, f"{side}_port_number")),
        flags=tuple(flag for place, flag in enumerate(_FLAGS) if bits >> place & 1),
    )


def _not_agreed(actor: LacpPort | None, partner: LacpPort | None) -> str:
    silent = actor is not None and not _SILENT.isdisjoint(actor.flags or ())
    if silent or partner is None or not partner.flags:
        return "no LACP packet has come from the other end"
    if not _PASSING.issubset(partner.flags):
        return "the other end does not pass packets on it"
    return "LACP has not agreed with the other end"


# -- the kernel


def in_the_kernel(kernel: KernelLooking) -> tuple[BondState, ...]:
    """The bonds of the namespace. Raises NetlinkError."""
    links = {message["index"]: (message, dict(message["attrs"])) for message in kernel.route.get_links()}
    bonds = {
        index: known for index, (_, known) in links.items() if _info(known).get("IFLA_INFO_KIND") == "bond"
    }
    found = []
    for index, known in bonds.items():
        data = dict(_info(known)["IFLA_INFO_DATA"]["attrs"])
        mode = _MODES.get(data.get("IFLA_BOND_MODE", 0), "another mode")
        members = tuple(
            _in_the_kernel(str(known["IFLA_IFNAME"]), mode, str(known["IFLA_ADDRESS"]), data, message, member)
            for message, member in links.values()
            if member.get("IFLA_MASTER") == index
        )
        found.append(
            BondState(
                name=str(known["IFLA_IFNAME"]),
                mode=mode,
                active_members=sum(member.state == "active" for member in members),
                members=members,
            )
        )
    return tuple(sorted(found, key=lambda bond: bond.name))


def _info(known: Mapping[str, Any]) -> dict[str, Any]:
    return dict((known.get("IFLA_LINKINFO") or {"attrs": ()})["attrs"])


def _in_the_kernel(
    bond: str, mode: str, mac: str, data: Mapping[str, Any], message: Any, known: Mapping[str, Any]
) -> BondMemberState:
    member = dict(_info(known)["IFLA_INFO_SLAVE_DATA"]["attrs"])
    state: Literal["active", "standby", "waiting", "down"]
    reason = ""
    ad = dict((data.get("IFLA_BOND_AD_INFO") or {"attrs": ()})["attrs"]) if mode == "802.3ad" else {}
    actor, partner = _ports(mac, ad)
    if not message["flags"] & _ADMIN_UP:
        state, reason = "down", "it is disabled"
    elif not message["flags"] & _LOWER_UP or member.get("IFLA_BOND_SLAVE_MII_STATUS") != 0:
        state, reason = "down", "it has no link"
    elif mode == "802.3ad" and (partner is None or not _in_use(member, ad)):
        state, reason = (
            "waiting",
            _not_agreed(None, None) if partner is None else "it is not in the bond's aggregator",
        )
    elif mode == "active-backup" and data.get("IFLA_BOND_ACTIVE_SLAVE") != message["index"]:
        state, reason = "standby", "another member is used"
    else:
        state = "active"
    return BondMemberState(
        bond=bond,
        interface=str(known["IFLA_IFNAME"]),
        state=state,
        reason=reason,
        actor=actor,
        partner=partner,
    )


def _in_use(member: Mapping[str, Any], ad: Mapping[str, Any]) -> bool:
    """Whether LACP passes packets by it: it is in the aggregator in use, and not held back."""
    ours = member.get("IFLA_BOND_SLAVE_AD_AGGREGATOR_ID") == ad.get("IFLA_BOND_AD_INFO_AGGREGATOR")
    return ours and member.get("IFLA_BOND_SLAVE_STATE") == 0


def _ports(mac: str, ad: Mapping[str, Any]) -> tuple[LacpPort | None, LacpPort | None]:
    """Both ends of the aggregator in use; the kernel does not tell more about each member."""
    if not ad:
        return None, None
    actor = LacpPort(system=mac, key=int(ad.get("IFLA_BOND_AD_INFO_ACTOR_KEY", 0)))
    system = str(ad.get("IFLA_BOND_AD_INFO_PARTNER_MAC", _NOBODY))
    if system == _NOBODY:
        return actor, None
    return actor, LacpPort(system=system, key=int(ad.get("IFLA_BOND_AD_INFO_PARTNER_KEY", 0)))


def _rows(answer: Bonds) -> Iterator[BondMemberState]:
    yield from answer.members


BONDS = Part(
    "bonds",
    "Members of bonds: which are in use, and why the others are not.",
    Everything,
    Bonds,
    _read,
    table=Table(
        ("bond", "interface", "state", "partner_system", "rx_packets", "tx_packets", "reason"), _rows
    ),
)
