"""What each daemon of FRR evaluates of a route map, and at which places. Pure.

FRR's daemons share route maps: each takes every line, keeps the clauses it knows and drops the others without
a word. A rule whose condition is dropped then matches every route. What a daemon knows at all is asked of it
by a test (``show route-map`` prints the clauses that count), and what acts at a place is shown by exchanged
routes (tests/integration/frr/test_clauses_known.py and test_clauses_acting.py). The rows of FRR 10 are read
from the source of release 10.3, and asked of the daemons of a built image.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from frr_config.protocols.policy.model import Family, Match, RouteMapRule, SetActions
from frr_config.version import FrrVersion

MOST_OSPF_METRIC = 0xFFFFFE
"""One more says that the route cannot be reached (RFC 2328)."""


class Clause(NamedTuple):
    """One field of ``Match`` or ``SetActions``."""

    part: Literal["match", "set"]
    field: str

    @property
    def words(self) -> str:
        """What its line begins with."""
        return f"{self.part} {WORDS[self]}"

    @property
    def path(self) -> str:
        """Its place in a rule, as the end of a JSON pointer."""
        return f"{self.part}/{self.field}"


_MATCH = {
    "prefix_list": "ip address prefix-list",
    "ipv6_prefix_list": "ipv6 address prefix-list",
    "as_path_list": "as-path",
    "community_list": "community",
    "interface": "interface",
    "metric": "metric",
    "tag": "tag",
    "source_protocol": "source-protocol",
}
_SET = {
    "local_preference": "local-preference",
    "metric": "metric",
    "metric_type": "metric-type",
    "weight": "weight",
    "origin": "origin",
    "next_hop": "ip next-hop",
    "ipv6_next_hop": "ipv6 next-hop global",
    "tag": "tag",
    "source": "src",
    "as_path_prepend": "as-path prepend",
    "communities": "community",
    "large_communities": "large-community",
}
WORDS: Mapping[Clause, str] = {
    **{Clause("match", field): words for field, words in _MATCH.items()},
    **{Clause("set", field): words for field, words in _SET.items()},
}
"""FRR's words for each clause, in the order in which a rule is rendered."""
_PARTS_OF_OTHERS = frozenset({"communities_additive"})
"""Fields that change the meaning of another one."""


def clauses_of(rule: RouteMapRule) -> Iterator[Clause]:
    """The clauses that a rule has."""
    for part, settings in (("match", rule.match), ("set", rule.set)):
        for field in sorted(settings.model_fields_set):
            if field not in _PARTS_OF_OTHERS and getattr(settings, field) not in (None, ()):
                yield Clause(part, field)  # type: ignore[arg-type] # the tuple holds the two words


def _some(part: Literal["match", "set"], fields: str) -> frozenset[Clause]:
    return frozenset(Clause(part, field) for field in fields.split())


_BGPD = _some(
    "match", "prefix_list ipv6_prefix_list as_path_list community_list interface metric tag"
) | _some(
    "set",
    "local_preference metric weight origin next_hop ipv6_next_hop tag as_path_prepend communities "
    "large_communities",
)
_OSPFD = _some("match", "prefix_list interface tag") | _some("set", "metric metric_type tag")
_ZEBRA = _some("match", "prefix_list ipv6_prefix_list interface tag source_protocol") | _some("set", "source")
_KNOWN: Mapping[str, tuple[tuple[FrrVersion, frozenset[Clause]], ...]] = {
    "bgpd": (
        (FrrVersion(8, 4), _BGPD),
        (FrrVersion(10, 0), _BGPD | _some("match", "source_protocol")),
    ),
    "ospfd": ((FrrVersion(8, 4), _OSPFD),),
    "zebra": ((FrrVersion(8, 4), _ZEBRA),),
}
"""The clauses that a daemon knows from a release on."""
DAEMONS = tuple(_KNOWN)
"""Those that evaluate route maps."""


def known(daemon: str, version: FrrVersion) -> frozenset[Clause]:
    """The clauses that a daemon evaluates anywhere; it drops all others."""
    found = _KNOWN[daemon][0][1]
    for since, clauses in _KNOWN[daemon]:
        if since <= version:
            found = clauses
    return found


Spot = Literal[
    "bgp_in", "bgp_out_external", "bgp_out_internal", "bgp_out", "bgp_redistribution", "bgp_import",
    "ospf_redistribution", "ospf_default", "kernel",
]  # fmt: skip
"""A kind of place where the document can name a route map."""
_DAEMON: Mapping[Spot, str] = {
    "bgp_in": "bgpd",
    "bgp_out_external": "bgpd",
    "bgp_out_internal": "bgpd",
    "bgp_out": "bgpd",
    "bgp_redistribution": "bgpd",
    "bgp_import": "bgpd",
    "ospf_redistribution": "ospfd",
    "ospf_default": "ospfd",
    "kernel": "zebra",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a route map is evaluated: for routes of one family."""

    spot: Spot
    family: Family

    @property
    def daemon(self) -> str:
        """The daemon that evaluates it."""
        return _DAEMON[self.spot]

    def why_idle(self, clause: Clause, version: FrrVersion) -> str:
        """Why a clause does nothing here, as the end of a sentence; empty where it acts."""
        if clause not in known(self.daemon, version):
            return f"{self.daemon} of FRR {version} does not know it and drops it"
        for idle in _IDLE:
            if self.spot in idle.spots and clause in idle.clauses and self.family in idle.families:
                return f"{self.daemon} of FRR {version} {idle.why}"
        return ""

    def why_value(self, clause: Clause, rule: RouteMapRule) -> str:
        """Why the value of a clause that acts here cannot be; empty where it can."""
        metric = rule.set.metric
        if self.daemon == "ospfd" and clause == Clause("set", "metric") and (metric or 0) > MOST_OSPF_METRIC:
            return f"OSPF's metric is at most {MOST_OSPF_METRIC} (RFC 2328)"
        return ""

    def never_reached(self, match: Match, version: FrrVersion) -> bool:
        """Whether a rule matches no route of this family, so that nothing in it counts."""
        other = "prefix_list" if self.family == "ipv6" else "ipv6_prefix_list"
        return getattr(match, other) is not None and Clause("match", other) in known(self.daemon, version)


class _Idle(NamedTuple):
    """Clauses that a daemon knows and that do nothing at some places."""

    spots: tuple[Spot, ...]
    clauses: frozenset[Clause]
    why: str
    families: tuple[Family, ...] = ("ipv4", "ipv6")


_BGP: tuple[Spot, ...] = tuple(spot for spot, daemon in _DAEMON.items() if daemon == "bgpd")
_OUT: tuple[Spot, ...] = ("bgp_out", "bgp_out_external", "bgp_out_internal")
_IDLE = (
    _Idle(
        ("bgp_in", *_OUT, "bgp_import"),
        _some("match", "interface"),
        "knows the interface of redistributed routes only, so that no route from a neighbor matches",
    ),
    _Idle(
        ("bgp_in", "bgp_import"),
        _some("match", "source_protocol"),
        "does not tell here where a route was learned, so that none matches",
    ),
    _Idle(
        ("bgp_out_external",),
        _some("set", "local_preference"),
        "sends the local preference to internal neighbors only (RFC 4271)",
    ),
    _Idle(_OUT, _some("set", "weight tag"), "does not send it: it counts on this router only"),
    _Idle(_BGP, _some("set", "next_hop"), "sets it on IPv4 routes only", families=("ipv6",)),
    _Idle(_BGP, _some("set", "ipv6_next_hop"), "sets it on IPv6 routes only", families=("ipv4",)),
    _Idle(
        ("ospf_default",),
        _some("set", "metric metric_type tag"),
        "does not change the default route by it: the route map only decides whether it is originated",
    ),
)


def title(clause: Clause) -> str:
    """What it is, in a sentence: ``the condition AS path list``."""
    model, noun = (Match, "condition") if clause.part == "match" else (SetActions, "action")
    return f"the {noun} {model.model_fields[clause.field].title}"


def fields() -> tuple[Clause, ...]:
    """Every clause that the model has, whether this table has it or not."""
    own: list[Clause] = [Clause("match", field) for field in Match.model_fields]
    own += [Clause("set", field) for field in SetActions.model_fields if field not in _PARTS_OF_OTHERS]
    return tuple(own)
