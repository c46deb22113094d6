"""Which daemons take, keep and print a line.

Each daemon keeps its own copy of route maps and prefix lists, and only of the clauses it knows. From FRR 10
on mgmtd takes static routes, and what zebra's route maps and prefix lists are, in place of staticd and zebra.
"""

from __future__ import annotations

from frr_config.version import FrrVersion

Context = tuple[str, ...]
Daemons = frozenset[str]

_BGPD: Daemons = frozenset({"bgpd"})
_OSPFD: Daemons = frozenset({"ospfd"})
_STATICD: Daemons = frozenset({"staticd"})
_MGMTD: Daemons = frozenset({"mgmtd"})
_NOBODY: Daemons = frozenset()

# Route map clauses by their first words; what is not named here is known to every daemon with route maps.
_BGP_CLAUSES = (
    "match as-path ",
    "match community ",
    "set local-preference ",
    "set weight ",
    "set origin ",
    "set ipv6 next-hop ",
    "set as-path ",
    "set community ",
    "set large-community ",
)
_OSPF_CLAUSES = ("set metric-type ",)
_ZEBRA_CLAUSES = ("match source-protocol ", "set src ")


def required_daemons(version: FrrVersion) -> tuple[str, ...]:
    """The daemons that have to run, in the order they are started."""
    daemons = ("zebra", "staticd", "bgpd", "ospfd")
    return ("mgmtd", *daemons) if version.has_mgmtd else daemons


def owners(context: Context, text: str, version: FrrVersion) -> Daemons:
    """The daemons that have a line of a context; empty for a line this package never writes."""
    if not context:
        return _top(text, version)
    opener = context[0]
    if opener.startswith("route-map "):
        return _clause(text, version)
    if opener.startswith("router bgp "):
        return _BGPD
    if opener.startswith("router ospf") or (opener.startswith("interface ") and text.startswith("ip ospf ")):
        return _OSPFD
    return _NOBODY


def _top(text: str, version: FrrVersion) -> Daemons:
    if text.startswith(("ip route ", "ipv6 route ")):
        return _MGMTD if version.has_mgmtd else _STATICD
    if text.startswith(("ip prefix-list ", "ipv6 prefix-list ", "route-map ")):
        return frozenset({_zebras(version), "bgpd", "ospfd"})
    if text.startswith(("bgp ", "router bgp ")):
        return _BGPD
    if text.startswith("router ospf"):
        return _OSPFD
    return _NOBODY


def _zebras(version: FrrVersion) -> str:
    return "mgmtd" if version.has_mgmtd else "zebra"


def _clause(text: str, version: FrrVersion) -> Daemons:
    if text.startswith(_BGP_CLAUSES):
        return _BGPD
    if text.startswith(_OSPF_CLAUSES):
        return _OSPFD
    if text.startswith(_ZEBRA_CLAUSES):
        if version.has_mgmtd and text.startswith("match source-protocol "):
            return frozenset({"mgmtd", "bgpd"})
        return frozenset({_zebras(version)})
    return frozenset({_zebras(version), "bgpd", "ospfd"})
