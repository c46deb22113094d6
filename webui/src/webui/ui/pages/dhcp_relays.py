"""DHCP relays, and the networks whose clients they relay."""

from collections.abc import Iterator, Mapping

from appliance.state.dhcp_relays import DHCP_RELAYS, DhcpRelays, DhcpRelayState
from webui.ui.pages.vrfs import has_vrfs, link_to_vrf
from webui.ui.tables.declaration import Column, Link, Live, Look, Page, Table
from webui.ui.tables.row import Row
from webui.ui.tables.standing import STANDING


def _by_name(answer: DhcpRelays) -> Mapping[str, DhcpRelayState]:
    return {one.name or f"table {one.table}": one for one in answer.relays}


def _networks(row: Row) -> Iterator[str]:
    for one in row.live("networks", ()):
        yield f"{one.address} on {one.interface}"


def _said_or_live(row: Row, field: str) -> str | None:
    found: str | None = row.said(field, row.live(field))
    return found


def _vrf(row: Row) -> Link | str:
    return link_to_vrf(_said_or_live(row, "vrf"))


def _server_vrf(row: Row) -> Link | str:
    return link_to_vrf(_said_or_live(row, "server_vrf"))


PAGE = Page(
    name="dhcp_relays",
    path="dhcp-relays",
    title="DHCP relays",
    icon="server",
    group="Routing",
    order=60,
    tables=(
        Table(
            name="dhcp_relays",
            noun="DHCP relay",
            plural="DHCP relays",
            mapping="/dhcp_relays",
            live=Live(DHCP_RELAYS, _by_name, about=lambda answer: answer.words, field="relays"),
            columns=(
                Column(title="Clients' VRF", value=_vrf, when=has_vrfs),
                Column(title="Clients' networks", look=Look.MONO, value=_networks),
                Column(title="Server", look=Look.MONO, value=lambda row: _said_or_live(row, "server")),
                Column(title="Server's VRF", value=_server_vrf, when=has_vrfs),
                Column(
                    title="Source address",
                    look=Look.MONO,
                    value=lambda row: _said_or_live(row, "source_address"),
                ),
                *STANDING,
            ),
            empty="No DHCP relay is configured: clients find only servers on their own link.",
        ),
    ),
)
