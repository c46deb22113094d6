"""BGP sessions and peer groups. A single neighbor has a hand-made page."""

from collections.abc import Iterator, Mapping
from typing import Any

from appliance.actions.bgp import CLEAR_BGP
from appliance.state.bgp import BGP, BgpState
from webui.ui.state import SessionState, bgp_sessions
from webui.ui.tables.declaration import Column, Fact, Instance, Live, Look, Page, RowAction, Table
from webui.ui.tables.row import Row


def sessions(answer: BgpState) -> Mapping[str, SessionState]:
    """Live sessions by address."""
    return bgp_sessions(answer)


def _facts(now: Mapping[str, Any], after: Mapping[str, Any], live: BgpState | None) -> Iterator[Fact]:
    yield Fact("AS", (live.asn if live else None) or now.get("asn"), after.get("asn"))
    yield Fact(
        "Router ID",
        (live.router_id if live else None) or now.get("router_id") or "automatic",
        after.get("router_id") or "automatic",
    )
    yield Fact(
        "Policy required (RFC 8212)",
        "yes" if now.get("ebgp_requires_policy", True) else "no",
        "yes" if after.get("ebgp_requires_policy", True) else "no",
    )


def asn(row: Row) -> Any:
    """The neighbor's AS number: its own statement, otherwise as configured here or in its peer group."""
    group = row.beside("/routing/bgp/peer_groups").get(row.said("peer_group"), {})
    return row.live("remote_asn") or row.said("remote_asn") or group.get("remote_asn")


def why_down(row: Row) -> str:
    """Why the session is down; nothing for one that is shut down on purpose."""
    return str(row.live("down_reason", "")) if row.enabled else ""


def status(row: Row) -> str:
    """The session's state; ``disabled`` when it is shut down on purpose."""
    return str(row.live("state", "")).lower() if row.enabled else "disabled"


def _is_live(row: Row) -> bool:
    return row.state is not None and row.configured and row.enabled


def _clear(title: str, icon: str, soft: str, asks: str) -> RowAction:
    return RowAction(
        CLEAR_BGP,
        title,
        icon,
        lambda row: {"neighbor": row.name, **({"soft": soft} if soft else {})} if _is_live(row) else None,
        lambda row: asks.format(f"{row.name} in VRF {row.vrf}" if row.vrf else row.name),
    )


CLEAR = _clear(
    "Clear the session",
    "refresh",
    "",
    "Clear the session with {}? It is closed and set up again; its routes are gone until then.",
)
EXCHANGE_AGAIN = (
    _clear("Ask for routes again", "download", "in", "Ask {} for its routes again? The session stays."),
    _clear("Send routes again", "upload", "out", "Send this router's routes to {} again? The session stays."),
)

PAGE = Page(
    name="bgp",
    path="bgp",
    title="BGP",
    icon="world",
    group="Routing",
    order=20,
    key="b",
    instance=Instance(
        pointer="/routing/bgp",
        absent="BGP does not run.",
        setup="Set up BGP",
        facts=_facts,
        part=BGP,
    ),
    tables=(
        Table(
            name="bgp_neighbors",
            noun="BGP neighbor",
            plural="Neighbors",
            key_title="Neighbor",
            mapping="/routing/bgp/neighbors",
            own_page="ui:bgp_neighbor",
            actions=(CLEAR,),
            mono=True,
            below=lambda row: row.said("description") or row.live("description"),
            live=Live(BGP, sessions),
            columns=(
                Column(title="AS", value=asn),
                Column(title="State", look=Look.STATE, value=status),
                Column("since_s", "For", look=Look.DURATION, live=True),
                Column(title="Why down", look=Look.SENTENCE, value=why_down),
                Column("received", "Received", look=Look.NUMBER, live=True),
                Column("sent", "Advertised", look=Look.NUMBER, live=True),
                Column("peer_group", "Group"),
            ),
            empty="No neighbor is configured.",
        ),
        Table(
            name="bgp_peer_groups",
            noun="peer group",
            plural="Peer groups",
            mapping="/routing/bgp/peer_groups",
            columns=(
                Column("remote_asn"),
                Column(title="Members", look=Look.NUMBER, value=lambda row: len(row.used_by)),
            ),
            empty="No peer group is configured.",
        ),
    ),
)
