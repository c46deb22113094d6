"""One FRR and one BIRD that show which clauses of a route map act at each place where one can be used.

::

    FRR, AS 65000   d0 10.9.0.1 --- 10.9.0.2   BIRD as AS 65001: sessions ext4, ext6
                    d1 10.9.1.1 --- 10.9.1.2   BIRD as AS 65000: sessions int4, int6, and OSPF

All clauses of one place are in one route map: each has a route of its own that its rules name by a prefix
list, and for a condition a second route whose rule asks for another value. BIRD keeps what each session
brings in a table of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_network
from typing import Any

from frr_config.protocols.policy.clauses import Clause, Place, Spot, fields, known
from frr_config.protocols.policy.model import Family
from frr_config.version import V8_4

NEAR_ASN, FAR_ASN = 65000, 65001
EXT = {"ipv4": "10.9.0.2", "ipv6": "2001:db8:9::2"}
INT = {"ipv4": "10.9.1.2", "ipv6": "2001:db8:9:1::2"}
CLIENT, NEAR_CLIENT, REFLECTED = "10.9.1.3", "10.9.1.4", "198.99.0.0/24"
"""A second internal neighbor, FRR's address for it (BIRD has one session with each), and its route, which FRR
reflects to the first.
"""
NEAR_EXT = {"ipv4": "10.9.0.1", "ipv6": "2001:db8:9::1"}
NEAR_INT = {"ipv4": "10.9.1.1", "ipv6": "2001:db8:9:1::1"}
FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")
_OTHER = {"ipv4": "10.9.0.3", "ipv6": "2001:db8:9::3"}
"""Next hops of static routes: BIRD refuses routes to itself."""
_VALUES: Mapping[str, tuple[Any, Any]] = {
    "as_path_list": ("path", "other-path"),
    "community_list": ("communities", "other-communities"),
    "interface": ("d0", "d1"),
    "metric": (5, 6),
    "tag": (7, 8),
    "source_protocol": ("static", "kernel"),
}
"""A value by which each condition holds, and one by which it does not."""
SET: Mapping[str, Any] = {
    "local_preference": 200,
    "metric": 9,
    "metric_type": "type-1",
    "weight": 500,
    "origin": "incomplete",
    "next_hop": "10.9.0.77",
    "ipv6_next_hop": "2001:db8:9::77",
    "tag": 9,
    "source": "10.9.0.1",
    "as_path_prepend": [64999],
    "communities": ["65009:9"],
    "large_communities": ["65009:9:9"],
}
_SHOWN = {
    "local_preference": ("BGP.local_pref", "200"),
    "metric": ("BGP.med", "9"),
    "origin": ("BGP.origin", "Incomplete"),
    "next_hop": ("BGP.next_hop", "10.9.0.77"),
    "ipv6_next_hop": ("BGP.next_hop", "2001:db8:9::77"),
    "as_path_prepend": ("BGP.as_path", "64999"),
    "communities": ("BGP.community", "(65009,9)"),
    "large_communities": ("BGP.large_community", "(65009, 9, 9)"),
}
_SHOWN_BY_OSPF = {
    "metric": ("OSPF.metric2", "9"),
    "metric_type": ("OSPF.metric1", ""),
    "tag": ("OSPF.tag", "0x00000009"),
}
Rules = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Tried:
    """A place, where its routes come from, and by which session BIRD sees them."""

    number: int
    spot: Spot
    family: Family
    comes: str
    """``ext`` or ``int``: the session by which BIRD sends them; ``static``: routes of FRR itself."""
    seen: str
    """The beginning of the name of BIRD's table; that of the family follows."""

    @property
    def place(self) -> Place:
        """As the table of clauses knows it."""
        return Place(self.spot, self.family)

    @property
    def route_map(self) -> str:
        """The name of its map."""
        return f"m{self.number}"

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Those that are tried here: all that the daemon knows, whether or not they act here."""
        return tuple(one for one in fields() if one in known(self.place.daemon, V8_4))

    def route(self, clause: Clause, other: bool = False) -> str:
        """The route of a clause; ``other``: that whose rule asks for another value."""
        at = fields().index(clause) + (100 if other else 0)
        return (
            f"198.{20 + self.number}.{at}.0/24"
            if self.family == "ipv4"
            else f"2001:db8:{0x100 * (self.number + 1) + at:x}::/48"
        )

    def table(self, clause: Clause) -> str:
        """BIRD's table that shows what becomes of it: an external neighbor is not told everything."""
        seen = "int" if self.spot == "bgp_redistribution" and clause.field in _FOR_INTERNAL else self.seen
        return seen if seen == "lsas" else f"{seen}{self.family[-1]}"

    @cached_property
    def rules(self) -> Rules:
        """The rules of its map, and those that let everything pass that is tried elsewhere."""
        rules: Rules = {}
        for clause in self.clauses:
            for other in (False, True) if clause.part == "match" else (False,):
                for rule in self._rules(clause, other):
                    rules[str(10 * (len(rules) + 1))] = rule
        return rules

    def _rules(self, clause: Clause, other: bool) -> Iterator[dict[str, Any]]:
        key = {self._key: self.list_name(clause, other)}
        if clause.part == "set":
            yield {"action": "permit", "match": key, "set": {clause.field: self.value(clause)}}
            return
        if clause.field in self._given_first:
            given = self._given_first[clause.field]
            yield {"action": "permit", "match": key, "set": given, "on_match_next": True}
        yield {"action": "permit", "match": {**key, **self._condition(clause, other)}}

    def value(self, clause: Clause) -> Any:
        """What a rule sets; another origin than the routes have."""
        return "igp" if clause.field == "origin" and self.comes == "static" else SET[clause.field]

    @property
    def _given_first(self) -> dict[str, Any]:
        """What an earlier rule sets, as the routes come without it: no neighbor sends a tag."""
        if self.place.daemon != "bgpd":
            return {}
        return (
            {"community_list": {"communities": ["65001:1"]}}
            if self.comes == "static"
            else {"tag": {"tag": 7}}
        )

    def _condition(self, clause: Clause, other: bool) -> dict[str, Any]:
        if clause.field in ("prefix_list", "ipv6_prefix_list"):
            family = "ipv6" if clause.field.startswith("ipv6") else "ipv4"
            if family == self.family and not other:
                return {}
            return {clause.field: f"{'none' if other else 'all'}-{family}"}
        value = _VALUES[clause.field][other]
        if clause.field == "as_path_list" and self.comes == "static" and not other:
            value = "no-path"
        return {clause.field: value}

    @property
    def _key(self) -> str:
        return "prefix_list" if self.family == "ipv4" else "ipv6_prefix_list"

    def list_name(self, clause: Clause, other: bool) -> str:
        """The prefix list that names the route of a clause."""
        return f"k{self.number}-{fields().index(clause)}{'-other' if other else ''}"

    def lists(self) -> dict[str, Any]:
        """All these prefix lists."""
        return {
            self.list_name(clause, other): {
                "family": self.family,
                "rules": {"5": {"action": "permit", "prefix": self.route(clause, other)}},
            }
            for clause in self.clauses
            for other in ((False, True) if clause.part == "match" else (False,))
        }

    def routes(self) -> Iterator[tuple[str, Clause]]:
        """All routes that are tried here."""
        for clause in self.clauses:
            yield self.route(clause), clause
            if clause.part == "match":
                yield self.route(clause, True), clause

    def acts(self, clause: Clause, tables: Mapping[str, Mapping[str, Mapping[str, str]]]) -> bool:
        """Whether what BIRD has shows that the clause does what it says."""
        table = tables[self.table(clause)]
        found = table.get(self.route(clause))
        if clause.part == "match":
            right = clause.field != ("ipv6_prefix_list" if self.family == "ipv4" else "prefix_list")
            return (found is not None) == right and self.route(clause, True) not in table
        if found is None:
            return False
        if self.place.daemon == "bgpd" and clause.field in ("weight", "tag"):
            return self._counts_here(clause, found)
        shown = _SHOWN_BY_OSPF if self.place.daemon == "ospfd" else _SHOWN
        name, value = shown.get(clause.field, ("", ""))
        if clause.field == "origin" and self.comes == "static":
            value = "IGP"
        return name in found and value in found[name]

    def _counts_here(self, clause: Clause, found: Mapping[str, str]) -> bool:
        """Of what is not sent: a tag is asked for by the map of what is sent on, and a weight decides for the
        path by the external neighbor.
        """
        if self.spot not in ("bgp_in", "bgp_redistribution"):
            return False
        return clause.field == "tag" or str(FAR_ASN) in found.get("BGP.as_path", "")


_TRIED: tuple[tuple[Spot, str, str], ...] = (
    ("bgp_in", "ext", "int"),
    ("bgp_out_external", "int", "ext"),
    ("bgp_out_internal", "ext", "int"),
    ("bgp_redistribution", "static", "ext"),
)
_FOR_INTERNAL = frozenset({"local_preference", "next_hop", "ipv6_next_hop", "weight", "tag"})
PLACES: tuple[Tried, ...] = tuple(
    Tried(2 * number + (family == "ipv6"), spot, family, comes, seen)
    for number, (spot, comes, seen) in enumerate(_TRIED)
    for family in FAMILIES
)
OSPF_PLACES = (
    Tried(8, "ospf_redistribution", "ipv4", "static", "lsas"),
    Tried(9, "ospf_redistribution", "ipv4", "ext", "lsas"),
)
ALL_PLACES = (*PLACES, *OSPF_PLACES)
_LENGTHS = {"ipv4": ("0.0.0.0/0", 32), "ipv6": ("::/0", 128)}


def _place(spot: Spot, family: str) -> Tried:
    return next(one for one in PLACES if (one.spot, one.family) == (spot, family))


def _rest(name: str, family: str, but: list[str]) -> dict[str, Any]:
    """A prefix list that permits everything but these routes."""
    prefix, longest = _LENGTHS[family]
    rules: dict[str, Any] = {
        str(at): {"action": "deny", "prefix": route} for at, route in enumerate(dict.fromkeys(but), 1)
    }
    rules["60000"] = {"action": "permit", "prefix": prefix, "le": longest}
    return {name: {"family": family, "rules": rules}}


def policy() -> dict[str, Any]:
    """The lists and maps of all places."""
    lists: dict[str, Any] = {}
    maps: dict[str, Any] = {one.route_map: {"rules": dict(one.rules)} for one in ALL_PLACES}
    for one in ALL_PLACES:
        lists |= one.lists()
    for family in FAMILIES:
        lists |= _rest(f"all-{family}", family, [])
        lists[f"none-{family}"] = {"family": family, "rules": {}}
        key = "prefix_list" if family == "ipv4" else "ipv6_prefix_list"
        received, redistributed = _place("bgp_in", family), _place("bgp_redistribution", family)
        weight, tag = Clause("set", "weight"), Clause("set", "tag")
        # A path that is preferred to the redistributed one where that has the lower weight.
        first: dict[str, Rules] = {
            received.route_map: {
                "1": {
                    "action": "permit",
                    "match": {key: redistributed.list_name(weight, False)},
                    "set": {"weight": 1000},
                }
            },
            _place("bgp_out_internal", family).route_map: {
                str(at): {"action": "permit", "match": {key: one.list_name(tag, False), "tag": 9}}
                for at, one in enumerate((received, redistributed), 1)
            },
        }
        probed = [one.route(tag) for one in (received, redistributed)]
        for spot in ("bgp_in", "bgp_out_external", "bgp_out_internal"):
            one = _place(spot, family)
            own = [route for route, _ in one.routes()]
            if spot == "bgp_out_internal":
                own += probed
            if (spot, family) == ("bgp_out_internal", "ipv4"):
                lists["reflected"] = {"rules": {"5": {"action": "permit", "prefix": REFLECTED}}}
                first[one.route_map]["5"] = {
                    "action": "permit",
                    "match": {"prefix_list": "reflected"},
                    "set": {"metric": SET["metric"], "communities": SET["communities"]},
                }
            lists |= _rest(f"rest-{one.number}", family, own)
            maps[one.route_map]["rules"] |= first.get(one.route_map, {})
            maps[one.route_map]["rules"]["60000"] = {
                "action": "permit",
                "match": {key: f"rest-{one.number}"},
                # OSPF gets the tag with the routes that BGP learned.
                **({"set": {"tag": 7}} if spot == "bgp_in" else {}),
            }
    return {
        "prefix_lists": lists,
        "route_maps": maps,
        "as_path_lists": {
            name: {"rules": {"5": {"action": "permit", "regex": regex}}}
            for name, regex in (("path", "64512"), ("other-path", "64513"), ("no-path", "^$"))
        },
        "community_lists": {
            name: {"rules": {"5": {"action": "permit", "communities": [community]}}}
            for name, community in (("communities", "65001:1"), ("other-communities", "65001:2"))
        },
    }


def routing() -> dict[str, Any]:
    """FRR's configuration."""
    neighbors: dict[str, Any] = {}
    for family in FAMILIES:
        field = f"{family}_unicast"
        for addresses, asn, maps in (
            (EXT, FAR_ASN, {"route_map_in": "bgp_in", "route_map_out": "bgp_out_external"}),
            (INT, NEAR_ASN, {"route_map_out": "bgp_out_internal"}),
        ):
            named = {way: _place(spot, family).route_map for way, spot in maps.items()}  # type: ignore[arg-type] # words of Spot
            neighbors[addresses[family]] = {"remote_asn": asn, "connect_retry_s": 1, field: named}
    static = {}
    for one in ALL_PLACES:
        for route, _ in one.routes() if one.comes == "static" else ():
            static[route] = {"tag": 7, "next_hops": [{"address": _OTHER[one.family], "interface": "d0"}]}
    redistribute = {
        f"{family}_unicast": {
            "redistribute": {
                "static": {"metric": 5, "route_map": _place("bgp_redistribution", family).route_map}
            }
        }
        for family in FAMILIES
    }
    neighbors[CLIENT] = {
        "remote_asn": NEAR_ASN,
        "connect_retry_s": 1,
        "update_source": NEAR_CLIENT,
        "ipv4_unicast": {"route_reflector_client": True},
    }
    return {
        "policy": policy(),
        "static": static,
        "bgp": {"asn": NEAR_ASN, "router_id": "10.255.0.1", "neighbors": neighbors, **redistribute},
        "ospf": {
            "router_id": "10.255.0.1",
            "interfaces": {
                "d1": {
                    "area": "0.0.0.0",
                    "network_type": "point-to-point",
                    "hello_interval_s": 1,
                    "dead_interval_s": 4,
                }
            },
            "redistribute": {"static": {"route_map": "m8"}, "bgp": {"route_map": "m9"}},
        },
    }


def bird() -> str:
    """BIRD's configuration."""
    parts = ["log stderr all;", "router id 10.255.0.2;", "protocol device { scan time 10; }"]
    parts += ["ipv4 table lsas;"]
    for family in FAMILIES:
        short = family[-1]
        weight = Clause("set", "weight")
        for name, near, own, asn in (
            ("ext", NEAR_EXT, EXT, FAR_ASN),
            ("int", NEAR_INT, INT, NEAR_ASN),
        ):
            routes = [
                route
                for one in ALL_PLACES
                if one.family == family and one.comes == name
                for route, _ in one.routes()
            ]
            competing = "bgp_in" if name == "int" else "bgp_redistribution"
            routes.append(_place(competing, family).route(weight))  # type: ignore[arg-type] # a word of Spot
            lines = "\n  ".join(f"route {route} blackhole;" for route in routes)
            preferred = "bgp_local_pref = 300;" if name == "int" else ""
            parts.append(
                f"""{family} table {name}{short};
protocol static from_{name}{short} {{
  {family} {{ table {name}{short}; }};
  {lines}
}}
protocol bgp {name}_{short} {{
  local {own[family]} as {asn};
  neighbor {near[family]} as {NEAR_ASN};
  connect retry time 1; connect delay time 1; error wait time 1, 2;
  {family} {{
    table {name}{short};
    import all;
    export filter {{
      if source != RTS_STATIC then reject;
      bgp_path.prepend(64512); bgp_community.add((65001,1)); bgp_med = 5; bgp_origin = ORIGIN_IGP;
      {preferred}
      accept;
    }};
    next hop self;
  }};
}}"""
            )
    parts.append(
        f"""ipv4 table others;
protocol static from_client {{ ipv4 {{ table others; }}; route {REFLECTED} blackhole; }}
protocol bgp client_4 {{
  router id 10.255.0.3;
  local {CLIENT} as {NEAR_ASN};
  neighbor {NEAR_CLIENT} as {NEAR_ASN};
  connect retry time 1; connect delay time 1; error wait time 1, 2;
  ipv4 {{ table others; import none; export where source = RTS_STATIC; next hop self; }};
}}"""
    )
    parts.append(
        """protocol ospf v2 near {
  ipv4 { table lsas; import all; export none; };
  area 0 { interface "d1" { type ptp; hello 1; dead 4; }; };
}"""
    )
    return "\n".join(parts) + "\n"


PROTOCOLS = {"lsas": "near", **{f"{name}{at}": f"{name}_{at}" for name in ("ext", "int") for at in (4, 6)}}
"""By table, the protocol that brings what FRR sends."""


def routes_of(text: str) -> dict[str, dict[str, str]]:
    """Routes of one of BIRD's tables with their attributes, as ``show route table T all`` prints them."""
    routes: dict[str, dict[str, str]] = {}
    found: dict[str, str] = {}
    for line in text.splitlines():
        if (started := re.match(r"([0-9a-f.:]+/\d+)\s", line)) is not None:
            found = routes.setdefault(str(ip_network(started[1])), {})
        elif (attribute := re.match(r"\t([A-Za-z]+\.[a-z0-9_]+): (.*)$", line)) is not None:
            found[attribute[1]] = attribute[2].strip()
    return routes
