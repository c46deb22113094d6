"""BFD sessions and profiles, and the sessions on the pages of the neighbors and interfaces that they
watch.
"""

from collections.abc import Mapping

from appliance.state.bfd import BFD, BfdSession, BfdState
from webui.agent import agent
from webui.ui.pages.vrfs import has_vrfs, link_to_vrf
from webui.ui.tables.declaration import Column, Link, Live, Look, Page, Panel, Table
from webui.ui.tables.row import Row


def _by_key(answer: BfdState) -> Mapping[str, BfdSession]:
    """A neighbor can have several: over two links, single-hop and multihop, or in two VRFs."""
    return {f"{_name(one)} {one.vrf or ''}": one for one in answer.sessions}


def _name(one: BfdSession) -> str:
    where = "over several hops" if one.multihop else one.interface and f"on {one.interface}"
    return f"{one.peer} {where}" if where else one.peer


def _vrf(row: Row) -> Link | str | None:
    one: BfdSession | None = row.state
    return None if one is None else link_to_vrf(one.vrf)


def _state(row: Row) -> str:
    return str(row.live("state", "")).replace("_", " ")


def _sent(row: Row) -> str | None:
    """The intervals at which this end sends and receives."""
    one: BfdSession | None = row.state
    return None if one is None else f"{one.transmit_interval_ms} / {one.receive_interval_ms}"


def _intervals(row: Row) -> str:
    transmit, receive = row.said("transmit_interval_ms", 300), row.said("receive_interval_ms", 300)
    return f"{transmit} / {receive}"


def _options(row: Row) -> list[str]:
    return [name for name in ("passive", "echo") if row.said(name)]


PAGE = Page(
    name="bfd",
    path="bfd",
    title="BFD",
    icon="activity",
    group="Routing",
    order=40,
    tables=(
        Table(
            name="bfd_sessions",
            noun="BFD session",
            plural="Sessions",
            key_title="Neighbor",
            mono=True,
            called=lambda row: _name(row.state),
            live=Live(BFD, _by_key),
            below=lambda row: row.live("reason"),
            columns=(
                Column(title="VRF", value=_vrf, when=has_vrfs),
                Column(title="State", look=Look.STATE, value=_state),
                Column("since_s", "For", look=Look.DURATION, live=True),
                Column("detection_time_ms", "Detection time, ms", look=Look.NUMBER, live=True),
                Column(title="Sends / takes, ms", look=Look.NUMBER, value=_sent),
                Column("counters.downs", "Went down", look=Look.NUMBER, live=True),
            ),
            empty="No BFD sessions: name a profile in a BGP neighbor, an OSPF interface or a next hop.",
        ),
        Table(
            name="bfd_profiles",
            noun="BFD profile",
            plural="Profiles",
            mapping="/routing/bfd/profiles",
            columns=(
                Column(title="Sends / takes, ms", look=Look.NUMBER, value=_intervals),
                Column(
                    title="Multiplier", look=Look.NUMBER, value=lambda row: row.said("detect_multiplier", 3)
                ),
                Column(title="Options", value=_options),
                Column(title="Used by", look=Look.NUMBER, value=lambda row: len(row.used_by)),
            ),
            empty="No BFD profile is configured.",
        ),
    ),
)


def _sessions() -> tuple[BfdSession, ...]:
    return agent().state(BFD).sessions


def _of_neighbor(row: Row) -> list[BfdSession]:
    return [one for one in _sessions() if one.peer == row.name and (one.vrf or "") == row.vrf]


def _on_interface(row: Row) -> list[BfdSession]:
    return [one for one in _sessions() if one.interface == row.name]


def _is_watched(row: Row) -> bool:
    group = row.beside("/routing/bgp/peer_groups").get(row.said("peer_group"), {})
    return bool(row.said("bfd_profile") or group.get("bfd_profile"))


_COLUMNS = (
    ("Neighbor", lambda one: one.peer),
    ("State", lambda one: one.state.replace("_", " ")),
    ("Detection time", lambda one: one.detection_time_ms and f"{one.detection_time_ms} ms"),
    ("Why not up", lambda one: one.reason),
)
_NO_SESSION = "There is no BFD session yet."
NEIGHBOR = Panel("/routing/bgp/neighbors", "BFD", _COLUMNS, _of_neighbor, _is_watched, _NO_SESSION)
INTERFACE = Panel(
    "/routing/ospf/interfaces",
    "BFD",
    _COLUMNS,
    _on_interface,
    lambda row: bool(row.said("bfd_profile")),
    _NO_SESSION,
)
