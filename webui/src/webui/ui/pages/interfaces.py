"""Interfaces."""

from collections.abc import Iterator

from appliance.actions.counters import CLEAR_COUNTERS
from appliance.state.hardware import HARDWARE
from appliance.state.interfaces import INTERFACES
from webui.agent import agent
from webui.ui.tables.declaration import Column, Link, Live, Look, Offer, Offers, Page, RowAction, Table
from webui.ui.tables.row import Row


def status(row: Row) -> str:
    """``up``, ``down`` or ``disabled``; empty when the router does not say."""
    return str(row.live("link", "")).lower() if row.enabled else "disabled"


def kind(row: Row) -> str:
    """Kind in words."""
    return str(row.said("type") or row.live("type") or "unmanaged").replace("_", "-")


def addresses(row: Row) -> list[str]:
    """Configured addresses, otherwise the live ones."""
    return list(row.said("addresses") or row.live("addresses") or ())


def _acls(row: Row) -> Iterator[Link]:
    for field, direction in (("acl_in", "in"), ("acl_out", "out")):
        for name in row.said(field, ()):
            yield Link(name, f"/acls/{name}", direction)


def _nics() -> Iterator[Offer]:
    """The present NICs, by the address that stays with a NIC wherever it is plugged in."""
    for nic in agent().state(HARDWARE).nics:
        if nic.present:
            ways: list[tuple[str, str | None]] = [("pci", nic.known_pci or nic.pci), ("device", nic.device)]
            yield Offer(
                {"mac": nic.mac},
                (nic.device, nic.mac, nic.pci or "", nic.driver or nic.kind or "", nic.note or ""),
                tuple({name: value} for name, value in ways if value),
            )


CLEAR = RowAction(
    CLEAR_COUNTERS,
    "Clear the counters",
    "refresh",
    lambda row: {"interface": row.name} if row.state is not None else None,
    lambda row: (
        f"Clear the counters of {row.name}? They are shown from zero; metrics and alarms are not affected."
    ),
)

PAGE = Page(
    name="interfaces",
    path="interfaces",
    title="Interfaces",
    icon="plug-connected",
    order=20,
    key="i",
    scripts=("ui/js/cells.js",),
    tables=(
        Table(
            name="interfaces",
            noun="interface",
            plural="Interfaces",
            mapping="/interfaces",
            own_page="ui:interface",
            offers=(Offers("match", ("Name", "MAC", "PCI", "Driver", "Note"), _nics),),
            below=lambda row: row.said("description") or kind(row),
            actions=(CLEAR,),
            live=Live(INTERFACES, lambda answer: answer.by_name, poll=False),
            columns=(
                Column(title="State", look=Look.STATE, value=status),
                Column(title="Addresses", look=Look.MONO, value=addresses),
                Column(title="Last 2 minutes", look=Look.SPARK),
                Column(title="In", look=Look.COUNTERS, counters=("rx_bps", "rx_pps")),
                Column(title="Out", look=Look.COUNTERS, counters=("tx_bps", "tx_pps")),
                Column(title="Errors in, out", look=Look.COUNTERS, counters=("rx_errors", "tx_errors")),
                Column(title="Drops in, out", look=Look.COUNTERS, counters=("rx_drops", "tx_drops")),
                Column(title="ACLs", value=_acls),
            ),
            empty="No interface is configured.",
        ),
    ),
)
