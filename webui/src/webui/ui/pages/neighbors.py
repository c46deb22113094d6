"""ARP and IPv6 neighbors: those learned on each interface, and how to forget them."""

from collections.abc import Mapping

from appliance.actions.neighbors import CLEAR_NEIGHBORS
from appliance.state.neighbors import NEIGHBORS, Neighbors, NeighborState
from webui.ui.pages.vrfs import has_vrfs, link_to_vrf
from webui.ui.tables.declaration import Column, Link, Live, Look, Page, RowAction, Table
from webui.ui.tables.row import Row


def _by_place(answer: Neighbors) -> Mapping[str, NeighborState]:
    return {f"{one.address} {one.interface}": one for one in answer.neighbors}


def _vrf(row: Row) -> Link | str:
    """The VRF of the running interface."""
    interface = row.candidate.running.get("interfaces", {}).get(row.live("interface"), {})
    return link_to_vrf(interface.get("vrf"))


def _only(row: Row) -> Mapping[str, str] | None:
    """Configured entries stay."""
    if row.live("state") == "permanent":
        return None
    return {"interface": row.live("interface"), "address": row.live("address")}


PAGE = Page(
    name="neighbors",
    path="neighbors",
    title="ARP and ND",
    icon="affiliate",
    order=30,
    tables=(
        Table(
            name="neighbors",
            noun="neighbor",
            plural="ARP and IPv6 neighbors",
            key_title="Address",
            mono=True,
            called=lambda row: row.live("address"),
            live=Live(NEIGHBORS, _by_place),
            actions=(
                RowAction(
                    CLEAR_NEIGHBORS,
                    "Clear the entry",
                    "trash",
                    _only,
                    lambda row: (
                        f"Clear {row.live('address')} on {row.live('interface')}? What is sent to it next "
                        "asks for it again."
                    ),
                ),
            ),
            columns=(
                Column("interface", "Interface", live=True),
                Column(title="VRF", value=_vrf, when=has_vrfs),
                Column("mac", "MAC address", look=Look.MONO, live=True),
                Column("state", "State", look=Look.STATE, live=True),
            ),
            empty="No neighbor was learned.",
        ),
    ),
)
