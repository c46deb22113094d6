"""The tables of docs/route-map-clauses.md: ``python -m frr_config.protocols.policy.clause_tables PAGE``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from frr_config.protocols.policy.clauses import DAEMONS, Clause, Place, Spot, fields, known, title
from frr_config.protocols.policy.model import Family
from frr_config.version import V8_4, V10_3, FrrVersion

BEGIN, END = "<!-- generated: clauses -->\n", "<!-- end -->\n"
_RELEASES = (V8_4, V10_3)
_FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
_SPOTS: dict[Spot, str] = {
    "bgp_in": "BGP in",
    "bgp_out_external": "BGP out, external",
    "bgp_out_internal": "BGP out, internal",
    "bgp_redistribution": "into BGP",
    "bgp_import": "BGP import",
    "ospf_redistribution": "into OSPF",
    "ospf_default": "OSPF default",
}


def tables() -> str:
    """Clauses by daemon and release, and by place, in Markdown."""
    return "\n".join((*_by_daemon(), "", *_by_place(), ""))


def _by_daemon() -> Iterator[str]:
    columns = [(daemon, release) for daemon in DAEMONS for release in _RELEASES]
    yield from _head("a daemon knows", [f"{daemon} {release}" for daemon, release in columns])
    for clause in fields():
        yield _row(clause, ("yes" if clause in known(daemon, release) else "" for daemon, release in columns))


def _by_place() -> Iterator[str]:
    yield from _head("acts at a place", list(_SPOTS.values()))
    for clause in fields():
        yield _row(clause, (_acts(clause, spot) for spot in _SPOTS))


def _acts(clause: Clause, spot: Spot) -> str:
    """``yes``, or with what restricts it; empty where it is refused."""
    v8, v10 = (_in_release(clause, spot, release) for release in _RELEASES)
    if v8 == v10:
        return v8
    return f"{v10} from FRR 10" if not v8 else f"{v8} up to FRR 8"


def _in_release(clause: Clause, spot: Spot, release: FrrVersion) -> str:
    ipv4, ipv6 = (not Place(spot, family).why_idle(clause, release) for family in _FAMILIES)
    if spot.startswith("ospf"):
        return "yes" if ipv4 else ""
    return "yes" if ipv4 and ipv6 else "IPv4" if ipv4 else "IPv6" if ipv6 else ""


def _head(what: str, columns: list[str]) -> Iterator[str]:
    yield f"| {what} | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 1) + "|"


def _row(clause: Clause, cells: Iterable[str]) -> str:
    return f"| {clause.part}: {title(clause).split(' ', 2)[2]} | {' | '.join(cells)} |"


def written(page: str) -> str:
    """A page with these tables between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{tables()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text()))
