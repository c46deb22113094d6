"""The members of a bond, on the page of the interface."""

from collections.abc import Iterable

from appliance.state.bonds import BONDS, BondMemberState, LacpPort
from webui.agent import agent
from webui.ui.tables.declaration import Panel
from webui.ui.tables.row import Row


def _members(row: Row) -> Iterable[BondMemberState]:
    return agent().state(BONDS).members_of(row.name)


def _end(port: LacpPort | None) -> str | None:
    """``02:00:00:00:00:01 port 1: collecting, distributing``."""
    if port is None:
        return None
    name = port.system if port.port is None else f"{port.system} port {port.port}"
    flags = ", ".join(flag.replace("_", " ") for flag in port.flags or ())
    return f"{name}: {flags}" if flags else name


def _packets(one: BondMemberState) -> str | None:
    return None if one.rx_packets is None else f"{one.rx_packets:,} / {one.tx_packets:,}"


MEMBERS = Panel(
    "/interfaces",
    "Members",
    (
        ("Interface", lambda one: one.interface),
        ("State", lambda one: one.state),
        ("Why not active", lambda one: one.reason),
        ("Packets in / out", _packets),
        ("LACP, this end", lambda one: _end(one.actor)),
        ("LACP, other end", lambda one: _end(one.partner)),
    ),
    _members,
    lambda row: row.said("type") == "bond",
    empty="The router has no such bond, or none of its members.",
    wide=True,
)
