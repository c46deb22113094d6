"""OSPF's link state database. What is in an LSA was chosen by other routers: it is untrusted.

ospfd has one thread: it writes the list of 10,000 LSAs in 0.1 s, and nothing else meanwhile. ``counts`` and
``details`` cost it the same on any database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any, Literal, get_args

from frr_config.state import State

Json = Mapping[str, Any]
LsaType = Literal[
    "router",
    "network",
    "summary",
    "asbr-summary",
    "external",
    "nssa-external",
    "opaque-link",
    "opaque-area",
    "opaque-as",
]
"""As ospfd's commands have them."""
TYPES: tuple[LsaType, ...] = get_args(LsaType)
_LISTS: dict[str, LsaType] = {
    "routerLinkStates": "router",
    "networkLinkStates": "network",
    "summaryLinkStates": "summary",
    "asbrSummaryLinkStates": "asbr-summary",
    "asExternalLinkStates": "external",
    "nssaExternalLinkStates": "nssa-external",
    "linkLocalOpaqueLsa": "opaque-link",
    "areaLocalOpaqueLsa": "opaque-area",
    "asExternalOpaqueLsa": "opaque-as",
}
_COUNTS: dict[str, LsaType] = {
    "lsaRouterNumber": "router",
    "lsaNetworkNumber": "network",
    "lsaSummaryNumber": "summary",
    "lsaAsbrNumber": "asbr-summary",
    "lsaNssaNumber": "nssa-external",
    "lsaOpaqueLinkNumber": "opaque-link",
    "lsaOpaqueAreaNumber": "opaque-area",
}
_ABOUT = ("route", "summaryAddress")


@dataclass(frozen=True, slots=True)
class Lsa:
    """One LSA's header (RFC 2328, A.4.1)."""

    area: str | None
    """None for one that is flooded through the whole AS."""
    type: LsaType
    id: str
    advertising_router: str
    age_s: int | None = None
    sequence: str | None = None
    checksum: str | None = None
    about: str = ""
    """The route that it describes, or its number of links."""


@dataclass(frozen=True, slots=True)
class LsaDetail:
    """One LSA with what ospfd tells of its body, in its own words."""

    area: str | None
    advertising_router: str
    length_bytes: int | None
    detail: Json


@dataclass(frozen=True, slots=True)
class Count:
    """How many LSAs of a type an area has; the whole AS where None."""

    area: str | None
    type: LsaType
    lsas: int


def counts(frr: State) -> tuple[str | None, tuple[Count, ...]]:
    """This router's ID, and the number of LSAs by area and type; none where OSPF does not run."""
    shown = frr.ospf_summary()
    found = [
        Count(str(area), kind, number)
        for area, detail in (shown.get("areas") or {}).items()
        if isinstance(detail, Mapping)
        for key, kind in _COUNTS.items()
        if isinstance(number := detail.get(key), int) and number
    ]
    wide: tuple[tuple[str, LsaType], ...] = (
        ("lsaExternalCounter", "external"),
        ("lsaAsopaqueCounter", "opaque-as"),
    )
    found += [
        Count(None, kind, number)
        for key, kind in wide
        if isinstance(number := shown.get(key), int) and number
    ]
    return shown.get("routerId"), tuple(found)


def lsas(frr: State) -> Iterator[Lsa]:
    """Every LSA. ospfd writes its whole database: see ``counts`` first."""
    shown = frr.ospf_database()
    for area, lists in (shown.get("areas") or {}).items():
        if isinstance(lists, Mapping):
            yield from _listed(lists, str(area))
    yield from _listed(shown, None)


def details(frr: State, kind: LsaType, lsa_id: IPv4Address) -> list[LsaDetail]:
    """The LSAs of a type with this link state ID: one of each router that advertises it, in each area."""
    if kind not in TYPES:
        raise ValueError(f"type is one of {', '.join(TYPES)}")
    return list(_within(frr.ospf_database(f"{kind} {lsa_id} "), None))


def _listed(lists: Json, area: str | None) -> Iterator[Lsa]:
    for key, kind in _LISTS.items():
        entries = lists.get(key)
        for shown in entries if isinstance(entries, list) else ():
            if not isinstance(shown, Mapping) or "lsId" not in shown:
                continue
            links = shown.get("numOfRouterLinks")
            about = next((str(shown[name]) for name in _ABOUT if shown.get(name)), "")
            yield Lsa(
                area,
                kind,
                str(shown["lsId"]),
                str(shown.get("advertisedRouter", "")),
                shown.get("lsaAge"),
                shown.get("sequenceNumber"),
                _checksum(shown.get("checksum")),
                about if links is None else f"{links} link{'' if links == 1 else 's'}",
            )


def _checksum(text: Any) -> str | None:
    """In the form of the list and of RFCs, ``0x080b``: ospfd leaves out zeros at its beginning."""
    try:
        return f"0x{int(str(text), 16):04x}"
    except ValueError:
        return None if text is None else str(text)


def _within(shown: Any, area: str | None) -> Iterator[LsaDetail]:
    """LSAs anywhere in an answer: releases nest them differently, by area and by router."""
    if isinstance(shown, list):
        for one in shown:
            yield from _within(one, area)
    elif isinstance(shown, Mapping) and "linkStateId" in shown:
        length = shown.get("length")
        yield LsaDetail(
            area,
            str(shown.get("advertisingRouter", "")),
            length if isinstance(length, int) else None,
            {**shown, **({"checksum": _checksum(shown["checksum"])} if "checksum" in shown else {})},
        )
    elif isinstance(shown, Mapping):
        for key, value in shown.items():
            yield from _within(value, key if _is_area(key) else area)


def _is_area(key: str) -> bool:
    return key.count(".") == 3 and key.replace(".", "").isdigit()
