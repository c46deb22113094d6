"""Which object of the document a line belongs to. A step of a plan changes one object."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import Literal, NamedTuple

from frr_config.config import Line
from frr_config.masking import mask_line

Kind = Literal[
    "static",
    "prefix_list",
    "as_path_list",
    "community_list",
    "route_map_rule",
    "bgp",
    "bgp_family",
    "peer_group",
    "neighbor",
    "ospf",
    "ospf_interface",
    "foreign",
]


class ObjectKey(NamedTuple):
    """An object: what it is, where it is in FRR's configuration, and its name."""

    kind: Kind
    root: str
    """The context it is in or opens: ``router bgp 65000``; empty at the top."""
    name: str

    @property
    def path(self) -> str:
        """JSON pointer of the object in the document; empty for lines that are not of the document."""
        name = self.name.replace("~", "~0").replace("/", "~1")
        match self.kind:
            case "static":
                return f"/routing/static/{name}"
            case "prefix_list":
                return f"/routing/policy/prefix_lists/{self.name.split()[1]}"
            case "as_path_list" | "community_list":
                return f"/routing/policy/{self.kind}s/{name}"
            case "route_map_rule":
                route_map, _, sequence = self.name.split()
                return f"/routing/policy/route_maps/{route_map}/rules/{sequence}"
            case "bgp" | "ospf":
                return f"/routing/{self.kind}"
            case "bgp_family":
                return f"/routing/bgp/{name}_unicast"
            case "peer_group" | "neighbor":
                return f"/routing/bgp/{self.kind}s/{name}"
            case "ospf_interface":
                return f"/routing/ospf/interfaces/{name}"
            case "foreign":
                return ""

    @property
    def title(self) -> str:
        """What to call it in a summary."""
        match self.kind:
            case "static":
                return f"static route {self.name}"
            case "prefix_list":
                family, name = self.name.split()
                return f"{'IPv4' if family == 'ip' else 'IPv6'} prefix list {name}"
            case "as_path_list":
                return f"AS path list {self.name}"
            case "community_list":
                return f"community list {self.name}"
            case "route_map_rule":
                route_map, _, sequence = self.name.split()
                return f"rule {sequence} of route map {route_map}"
            case "bgp":
                return f"BGP AS {self.name}" if self.root else f"BGP {self.name}"
            case "bgp_family":
                return f"BGP {'IPv4' if self.name == 'ipv4' else 'IPv6'} unicast"
            case "peer_group":
                return f"BGP peer group {self.name}"
            case "neighbor":
                return f"BGP neighbor {self.name}"
            case "ospf":
                return "OSPF"
            case "ospf_interface":
                return f"OSPF on {self.name}"
            case "foreign":
                return f"foreign configuration: {mask_line(self.name)}"


_TOP: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("static", re.compile(r"(?:ip|ipv6) route (?P<name>\S+) ")),
    ("as_path_list", re.compile(r"bgp as-path access-list (?P<name>\S+) seq ")),
    ("community_list", re.compile(r"bgp community-list standard (?P<name>\S+) seq ")),
    ("bgp", re.compile(r"router bgp (?P<name>\d+)$")),
    ("ospf", re.compile(r"router (?P<name>ospf)$")),
)
_PREFIX_LIST = re.compile(r"(ip|ipv6) prefix-list (\S+) (?:seq|description) ")
_ROUTE_MAP = re.compile(r"route-map (\S+ (?:permit|deny) \d+)$")
_FAMILY = re.compile(r"address-family (ipv4|ipv6) unicast$")
_NEIGHBOR = re.compile(r"neighbor (\S+) ")
_BGP = re.compile(r"router bgp (\d+)$")
_INTERFACE = re.compile(r"interface (\S+)$")


@lru_cache(maxsize=65536)
def object_of(line: Line) -> ObjectKey:
    """The object a line belongs to; ``foreign`` for what no document can say."""
    found = _inside(line) if line.context else _at_top(line)
    if found is not None:
        return found
    root = line.context[0] if line.context else line.text
    return ObjectKey("foreign", root, root)


def _at_top(line: Line) -> ObjectKey | None:
    if match := _PREFIX_LIST.match(line.text):
        return ObjectKey("prefix_list", "", f"{match[1]} {match[2]}")
    if match := _ROUTE_MAP.match(line.text):
        return ObjectKey("route_map_rule", line.text, match[1])
    if line.text.startswith("bgp route-map delay-timer "):
        return ObjectKey("bgp", "", "policy delay")
    for kind, pattern in _TOP:
        if match := pattern.match(line.text):
            root = line.text if kind in ("bgp", "ospf") else ""
            return ObjectKey(kind, root, match["name"])
    return None


def _inside(line: Line) -> ObjectKey | None:
    root, inner = line.context[0], line.context[1:]
    if match := _ROUTE_MAP.match(root):
        return ObjectKey("route_map_rule", root, match[1])
    if root == "router ospf" and not inner:
        return ObjectKey("ospf", root, "ospf")
    if (match := _INTERFACE.match(root)) and line.text.startswith("ip ospf "):
        return ObjectKey("ospf_interface", root, match[1])
    if bgp := _BGP.match(root):
        family = _FAMILY.match(inner[0]) if inner else None
        if inner and family is None:
            return None
        if neighbor := _NEIGHBOR.match(line.text.removeprefix("no ")):
            return ObjectKey("neighbor" if is_address(neighbor[1]) else "peer_group", root, neighbor[1])
        return ObjectKey("bgp", root, bgp[1]) if family is None else ObjectKey("bgp_family", root, family[1])
    return None


@lru_cache(maxsize=4096)
def is_address(name: str) -> bool:
    """True for a neighbor's address, False for the name of a peer group."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
