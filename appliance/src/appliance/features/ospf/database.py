"""The link state database: one LSA at once, the list if it is short enough."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import partial
from ipaddress import IPv4Address
from weakref import WeakKeyDictionary

from appliance.routing.seldom import Seen, Seldom
from appliance.routing.view import VrfRoutingView
from appliance.state.ospf_database import LsaCount, LsaState, OspfDatabase, OspfDatabaseQuery
from frr_config.protocols.ospf.database import Lsa, LsaDetail, counts, details, lsas

LISTED = 20_000
"""The most LSAs that are listed: some 0.2 s of ospfd's time."""


def ospf_database(routing: VrfRoutingView, query: OspfDatabaseQuery) -> OspfDatabase:
    """The answer; empty if OSPF does not run. Raises BackendUnavailable."""
    router_id, known = routing.ask(counts)
    found, total, note, age_s = _found(routing, query, sum(one.lsas for one in known), router_id)
    return OspfDatabase(
        router_id=router_id,
        lsas=tuple(found),
        total=total,
        counts=tuple(LsaCount(area=one.area, type=one.type, lsas=one.lsas) for one in known),
        note=note,
        age_s=round(age_s, 1),
        list_limit=LISTED,
        offset=query.offset,
        limit=query.limit,
    )


def _found(
    routing: VrfRoutingView, query: OspfDatabaseQuery, number: int, own: str | None
) -> tuple[list[LsaState], int, str, float]:
    """LSAs, the length of the list, what is missing from it, and its age."""
    if not query.is_list:
        rows = _single(routing, query, own)
        return rows[query.offset : query.offset + query.limit], len(rows), "", 0.0
    if number > LISTED:
        note = (
            f"There are {number:,} LSAs; only lists of up to {LISTED:,} are shown, because FRR does nothing "
            "else while it writes one. Ask for a type and a link state ID."
        )
        return [], 0, note, 0.0
    seen = _read(routing)
    if seen.value is None:
        return [], 0, seen.note, 0.0
    wanted = [one for one in seen.value if _is_wanted(one, query)]
    page = wanted[query.offset : query.offset + query.limit]
    return _with_lengths(routing, page, own), len(wanted), "", seen.age_s


def _is_wanted(one: Lsa, query: OspfDatabaseQuery) -> bool:
    asked = (
        (query.type, one.type),
        (query.lsa_id, one.id),
        (query.area, one.area),
        (query.advertising_router, one.advertising_router),
    )
    return all(wanted is None or str(wanted) == has for wanted, has in asked)


def _single(routing: VrfRoutingView, query: OspfDatabaseQuery, own: str | None) -> list[LsaState]:
    kind, lsa_id = query.type, query.lsa_id
    assert kind is not None and lsa_id is not None
    return [
        LsaState(
            area=one.area,
            type=kind,
            lsa_id=str(lsa_id),
            advertising_router=one.advertising_router,
            age_s=one.detail.get("lsaAge"),
            sequence=one.detail.get("lsaSeqNumber"),
            checksum=one.detail.get("checksum"),
            length_bytes=one.length_bytes,
            own=one.advertising_router == own,
            detail=dict(one.detail),
        )
        for one in routing.ask(lambda frr: details(frr, kind, lsa_id))
        if query.area is None or str(query.area) == one.area
        if query.advertising_router is None or str(query.advertising_router) == one.advertising_router
    ]


def _with_lengths(routing: VrfRoutingView, page: Iterable[Lsa], own: str | None) -> list[LsaState]:
    """ospfd's list has no lengths: each LSA of the page is queried."""
    asked: dict[tuple[str, str], list[LsaDetail]] = {}
    shown = []
    for one in page:
        key = (one.type, one.id)
        if key not in asked:
            asked[key] = routing.ask(partial(details, kind=one.type, lsa_id=IPv4Address(one.id)))
        length = next(
            (
                detail.length_bytes
                for detail in asked[key]
                if (detail.area, detail.advertising_router) == (one.area, one.advertising_router)
            ),
            None,
        )
        shown.append(
            LsaState(
                area=one.area,
                type=one.type,
                lsa_id=one.id,
                advertising_router=one.advertising_router,
                age_s=one.age_s,
                sequence=one.sequence,
                checksum=one.checksum,
                length_bytes=length,
                about=one.about,
                own=one.advertising_router == own,
            )
        )
    return shown


_OF: WeakKeyDictionary[VrfRoutingView, Seldom[tuple[Lsa, ...]]] = WeakKeyDictionary()
_GUARD = threading.Lock()


def _read(routing: VrfRoutingView) -> Seen[tuple[Lsa, ...]]:
    with _GUARD:
        seldom = _OF.setdefault(routing, Seldom())
    return seldom.read("database", lambda: routing.ask(lambda frr: tuple(lsas(frr))))
