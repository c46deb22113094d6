"""The meaning of the lines of prefix lists, AS path lists, community lists and route maps.

Each daemon keeps its own copy of route maps and prefix lists, with only the clauses it knows. From FRR 10 on,
mgmtd takes those of zebra.
"""

from __future__ import annotations

import re

from frr_config.line import Daemons, Holders, Line
from frr_config.protocols.policy.calls import call_order
from frr_config.protocols.policy.communities import normal_communities
from frr_config.protocols.policy.render import policy_lines
from frr_config.syntax import ANY, Form, Kind, Opener, Protocol, Section, Setting, by_name, by_value, escape
from frr_config.version import FrrVersion


def _bgpd(_version: FrrVersion) -> Daemons:
    return frozenset({"bgpd"})


def _ospfd(_version: FrrVersion) -> Daemons:
    return frozenset({"ospfd"})


def _zebra(version: FrrVersion) -> Daemons:
    return frozenset({"mgmtd" if version.has_mgmtd else "zebra"})


def _zebra_and_from_10_bgpd(version: FrrVersion) -> Daemons:
    return _zebra(version) | (_bgpd(version) if version.has_mgmtd else frozenset())


def _every_daemon(version: FrrVersion) -> Daemons:
    return _zebra(version) | _bgpd(version) | _ospfd(version)


def _continuation(match: re.Match[str], text: str) -> Setting:
    """FRR requires the removal to name the continuation."""
    return Setting(match[0], f"no {' '.join(text.split()[:2])}")


def _call(match: re.Match[str], _text: str) -> Setting:
    """Removed before its rule. FRR (8.4 to 10.3) does not forget the call of a rule that is removed as a
    whole; a later call in the opposite direction makes a circle, which ends the daemon.
    """
    return Setting(match[0], f"no {match[0]}", goes_with_context=False)


def _sharing_a_regex(before: Holders, gone: Holders) -> dict[Line, Daemons]:
    """Rules with one regex, one of which is to be removed: bgpd removes the first of them, whichever it
    is asked to.
    """
    by_regex: dict[str, list[Line]] = {}
    for line in before:
        rule = line.text.partition(" seq ")[2].partition(" ")[2]
        by_regex.setdefault(rule.partition(" ")[2], []).append(line)
    groups = (lines for lines in by_regex.values() if len(lines) > 1 and not gone.keys().isdisjoint(lines))
    return {line: before[line] for lines in groups for line in lines}


def _prefix_list_title(name: str) -> str:
    family, _, own = name.split()
    return f"{'IPv4' if family == 'ip' else 'IPv6'} prefix list {own}"


def _rule_title(name: str) -> str:
    route_map, _, sequence = name.split()
    return f"rule {sequence} of route map {route_map}"


def _rule_path(name: str) -> str:
    route_map, _, sequence = name.split()
    return f"/routing/policy/route_maps/{route_map}/rules/{sequence}"


PREFIX_LIST = Kind(
    "prefix_list",
    title=_prefix_list_title,
    path=lambda name: f"/routing/policy/prefix_lists/{name.split()[2]}",
    # One by one, the time of removal grows with the square of the number of entries.
    forget="no {name}",
    distinct_values=True,
    plural="prefix lists",
    transactional=True,
    short=lambda name: name.split()[2],
    collection="/routing/policy/prefix_lists",
)
AS_PATH_LIST = Kind(
    "as_path_list",
    title=lambda name: f"AS path list {name}",
    path=lambda name: f"/routing/policy/as_path_lists/{escape(name)}",
    distinct_values=True,
    dragged=_sharing_a_regex,
)
COMMUNITY_LIST = Kind(
    "community_list",
    title=lambda name: f"community list {name}",
    path=lambda name: f"/routing/policy/community_lists/{escape(name)}",
    distinct_values=True,
)
RULE = Kind(
    "route_map_rule",
    title=_rule_title,
    path=_rule_path,
    plural="rules of route maps",
    transactional=True,
    short=lambda name: name.split()[0],
    collection="/routing/policy/route_maps",
    ranker=call_order,
)

_LISTS = (
    Form(r"(?P<name>ip(?:v6)? prefix-list \S+) description", PREFIX_LIST, by_name, _every_daemon),
    Form(r"(?P<name>ip(?:v6)? prefix-list \S+) seq \d+", PREFIX_LIST, by_value, _every_daemon),
    Form(r"ip(?:v6)? prefix-list", owners=_every_daemon),
    Form(r"bgp as-path access-list (?P<name>\S+) seq \d+", AS_PATH_LIST, by_value, _bgpd),
    Form(r"bgp community-list standard (?P<name>\S+) seq \d+", COMMUNITY_LIST, by_value, _bgpd),
    Form(r"route-map (?P<name>\S+ (?:permit|deny) \d+)$", RULE, owners=_every_daemon, opens=True),
    Form(r"route-map", owners=_every_daemon),
)
_CLAUSES = (
    Form("description", setting=by_name),
    Form("call", setting=_call),
    Form("on-match(?= )", setting=_continuation),
    Form("set as-path prepend", setting=by_name, owners=_bgpd),
    Form(r"(?:match|set) (?:as-path|community|large-community)", setting=by_value, owners=_bgpd),
    Form(r"set (?:local-preference|weight|origin)", setting=by_value, owners=_bgpd),
    Form(r"set ipv6 next-hop (?:prefix-list|global)", setting=by_value, owners=_bgpd),
    Form(r"set metric-type", setting=by_value, owners=_ospfd),
    Form(r"match source-protocol", setting=by_value, owners=_zebra_and_from_10_bgpd),
    Form(r"set src", setting=by_value, owners=_zebra),
    Form(r"(?:match|set) (?:ip|ipv6) \S+ (?:prefix-list|global)", setting=by_value),
    Form(r"(?:match|set) ip \S+", setting=by_value),
    Form(r"(?:match|set) \S+", setting=by_value),
    ANY,
)

PROTOCOL = Protocol(
    "policy",
    kinds=(PREFIX_LIST, AS_PATH_LIST, COMMUNITY_LIST, RULE),
    sections=(
        Section("", _LISTS, _bgpd),
        Section(r"route-map (?P<name>\S+ (?:permit|deny) \d+)", _CLAUSES, _every_daemon, RULE),
        Section(r"route-map .*", (ANY,), _every_daemon),
    ),
    places={
        20: ("ip prefix-list ",),
        30: ("ipv6 prefix-list ",),
        40: ("bgp as-path ",),
        50: ("bgp community-list ",),
        70: ("route-map ",),
    },
    openers=(Opener("route-map "),),
    lines=lambda wanted: policy_lines(wanted.routing.policy),
    named_by_others=True,
    normal=normal_communities,
)
