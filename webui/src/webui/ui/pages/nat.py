"""NAT: port forwards, 1:1 mappings, pools, no-NAT rules, hosts with the most sessions, and the sessions."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from appliance.actions.nat import CLEAR_NAT_SESSIONS
from appliance.state.nat import (
    NAT,
    NAT_SESSIONS,
    NAT_USERS,
    NatSession,
    NatSessions,
    NatState,
    NatUser,
    NatUsers,
)
from appliance.state.nat_mappings import NAT_MAPPINGS
from webui.ui.tables.declaration import (
    Column,
    Fact,
    Instance,
    Live,
    Look,
    Page,
    RowAction,
    Search,
    SearchAction,
    SearchField,
    Table,
)
from webui.ui.tables.row import Row
from webui.ui.tables.standing import STANDING

_SHOWN = 4
"""The most interfaces named at the head of the page; the rest are counted."""
_DIRECTIONS = {"out": "inside", "in": "outside", "hairpin": "inside, to an outside address"}


def _names(settings: Mapping[str, Any], field: str) -> str | None:
    if not settings:
        return None
    names = settings.get(field, ())
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more or "none"


def _facts(now: Mapping[str, Any], after: Mapping[str, Any], live: NatState | None) -> Iterator[Fact]:
    for field, title in (("inside", "Inside"), ("outside", "Outside"), ("masquerade", "Masquerade")):
        yield Fact(title, _names(now, field), _names(after, field))
    if live is not None:
        yield Fact("Table in use", f"{live.in_use:,} of {live.limit:,}{_share(live)}")
        if live.timed_out:
            yield Fact("Timed out", f"{live.timed_out:,}, replaced by new sessions")
        if live.refused:
            yield Fact("Refused", f"{live.refused:,} packets, because the table was full")
        if live.evicted:
            yield Fact("Ended early", f"{live.evicted:,} sessions, to make room")


def _share(live: NatState) -> str:
    if not live.limit:
        return ""
    percent = round(100 * live.fullness)
    return f" ({percent} %)" if percent or not live.in_use else " (below 1 %)"


def _asked_for(row: Row) -> str:
    """Protocol, outside address or interface, and port."""
    where = row.said("outside_address") or row.said("outside_interface")
    return f"{row.said('protocol', 'tcp')} {where} port {row.said('outside_port')}"


def _host(row: Row) -> str:
    return f"{row.said('inside_address')} port {row.said('inside_port') or row.said('outside_port')}"


def _standing(mapping: str) -> Live:
    return Live(NAT_MAPPINGS, lambda answer: answer.under(mapping), only_live=False)


def _users(answer: NatUsers) -> Mapping[str, NatUser]:
    return {one.address: one for one in answer.users}


def _sessions_of(row: Row) -> str:
    return "?" + urlencode({"kind": "nat_sessions", "inside": row.name})


def _by_inside(answer: NatSessions) -> Iterator[tuple[str, NatSession]]:
    return ((_end(one, "inside"), one) for one in answer.sessions)


def _end(one: NatSession, side: str) -> str:
    """Address and port; for ICMP, which has no ports, its identifier."""
    address, port = getattr(one, f"{side}_address"), getattr(one, f"{side}_port")
    return f"{address} id {port}" if one.protocol == "icmp" else f"{address}:{port}"


def _only(row: Row) -> Mapping[str, str]:
    """The question that matches only this session."""
    one: NatSession = row.state
    question = {}
    for side in ("inside", "outside", "remote"):
        question[side] = getattr(one, f"{side}_address")
        question[f"{side}_port"] = str(getattr(one, f"{side}_port"))
    if one.protocol in ("tcp", "udp", "icmp"):
        question["protocol"] = one.protocol
    return question


_CLEAR_ALL = "Clear every session? Connections may break; traffic that goes on begins a new session."


def _cleared(found: int) -> str:
    what = "the session" if found == 1 else f"the {found:,} sessions"
    return f"Clear {what} found? Connections of theirs may break; traffic that goes on begins a new session."


PAGE = Page(
    name="nat",
    path="nat",
    title="NAT",
    icon="arrows-exchange",
    group="Firewall",
    order=20,
    key="n",
    tabs=True,
    instance=Instance(
        pointer="/nat",
        absent="NAT is not set up: packets are forwarded with their addresses unchanged.",
        setup="Set up NAT",
        facts=_facts,
        part=NAT,
        edit="Edit settings",
    ),
    tables=(
        Table(
            name="nat_port_forwards",
            noun="port forward",
            plural="Port forwards",
            mapping="/nat/port_forwards",
            live=_standing("/nat/port_forwards"),
            columns=(
                Column(title="Asked for outside", look=Look.MONO, value=_asked_for),
                Column(title="Leads to", look=Look.MONO, value=_host),
                *STANDING,
            ),
            empty="No port forward is configured.",
        ),
        Table(
            name="nat_static",
            noun="1:1 NAT mapping",
            plural="1:1 mappings",
            mapping="/nat/static",
            live=_standing("/nat/static"),
            columns=(
                Column("outside_address", look=Look.MONO),
                Column("inside_address", look=Look.MONO),
                *STANDING,
            ),
            empty="No 1:1 mapping is configured.",
        ),
        Table(
            name="nat_pools",
            noun="NAT pool",
            plural="Pools",
            mapping="/nat/pools",
            live=_standing("/nat/pools"),
            columns=(Column("addresses", look=Look.MONO), *STANDING),
            empty="No pool is configured.",
        ),
        Table(
            name="nat_no_nat",
            noun="no-NAT rule",
            plural="No-NAT rules",
            key_title="Sequence",
            mapping="/nat/no_nat",
            columns=(
                Column(title="Source", look=Look.MONO, value=lambda row: row.said("source", "any")),
                Column(title="Destination", look=Look.MONO, value=lambda row: row.said("destination", "any")),
            ),
            empty="No rules: all traffic from inside to outside is translated.",
        ),
        Table(
            name="nat_users",
            noun="inside host",
            plural="Top users",
            key_title="Inside address",
            mono=True,
            live=Live(NAT_USERS, _users, poll=False),
            leads_to=_sessions_of,
            columns=(Column("sessions", "Sessions", look=Look.NUMBER, live=True),),
            empty="No session is translated now.",
        ),
        Table(
            name="nat_sessions",
            noun="session",
            plural="Sessions",
            key_title="Inside",
            mono=True,
            search=Search(
                NAT_SESSIONS,
                (
                    SearchField("inside", "Inside address", "10.0.0.9"),
                    SearchField("outside", "Outside address", "198.51.100.8"),
                    SearchField("remote", "Other end", "203.0.113.10"),
                    SearchField("port", "Port at any end", "443"),
                    SearchField("protocol", "Protocol", choices=("tcp", "udp", "icmp")),
                ),
                _by_inside,
                note=lambda answer: answer.left_out,
                act=SearchAction(
                    CLEAR_NAT_SESSIONS,
                    "Clear those found",
                    "Clear all",
                    "trash",
                    {"all": "true"},
                    _cleared,
                    _CLEAR_ALL,
                ),
            ),
            actions=(
                RowAction(
                    CLEAR_NAT_SESSIONS,
                    "Clear the session",
                    "trash",
                    _only,
                    lambda row: (
                        f"Clear the session of {row.name} with {_end(row.state, 'remote')}? A connection of"
                        " its may break; traffic that goes on begins a new session."
                    ),
                ),
            ),
            columns=(
                Column("protocol", "Protocol", live=True),
                Column(title="Outside", look=Look.MONO, value=lambda row: _end(row.state, "outside")),
                Column(title="Other end", look=Look.MONO, value=lambda row: _end(row.state, "remote")),
                Column(title="Begun", value=lambda row: _DIRECTIONS.get(row.live("direction"))),
                Column(title="State", value=lambda row: row.live("state", "").replace("_", " ")),
                Column("expires_s", "Expires in", look=Look.DURATION, live=True),
                Column("packets", "Packets", look=Look.NUMBER, live=True),
            ),
            empty="No session is translated now.",
        ),
    ),
)
