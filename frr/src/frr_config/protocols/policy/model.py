"""Routing policy: prefix lists, AS path lists, community lists and route maps."""

from __future__ import annotations

import re
from ipaddress import ip_address, ip_network
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from frr_config.protocols.policy.communities import plain_community
from frr_config.protocols.policy.posix_regex import refusal
from frr_config.references import InterfaceReference, RefersTo
from frr_config.types import (
    Address,
    Asn,
    Description,
    Model,
    Name,
    PermitDeny,
    Prefix,
    Sequence,
    is_unicast,
)

Family = Literal["ipv4", "ipv6"]

PrefixListName = Annotated[Name, RefersTo("/routing/policy/prefix_lists")]
AsPathListName = Annotated[Name, RefersTo("/routing/policy/as_path_lists")]
CommunityListName = Annotated[Name, RefersTo("/routing/policy/community_lists")]
RouteMapName = Annotated[Name, RefersTo("/routing/policy/route_maps")]


class PrefixListRule(Model):
    """One line of a prefix list."""

    action: PermitDeny = Field(title="Action")
    """Whether a matching prefix passes."""
    prefix: Prefix = Field(title="Prefix")
    """Prefix to compare with."""
    ge: int | None = Field(default=None, ge=0, le=128, title="Minimum length")
    """Also match longer prefixes, from this length."""
    le: int | None = Field(default=None, ge=0, le=128, title="Maximum length")
    """Also match longer prefixes, up to this length."""

    @model_validator(mode="after")
    def _lengths(self) -> Self:
        network = ip_network(self.prefix)
        low, top = network.prefixlen, network.max_prefixlen
        if self.ge is not None and not low <= self.ge <= top:
            raise ValueError(f"ge must be at least the prefix's own length, {low}, and at most {top}")
        if self.le is not None and not low <= self.le <= top:
            raise ValueError(f"le must be at least the prefix's own length, {low}, and at most {top}")
        if self.ge is not None and self.le is not None and self.ge > self.le:
            raise ValueError("ge must not be greater than le")
        if self.le == 0 or (self.ge == 0 and self.le is None):
            # FRR takes 0 for a length that is not given.
            raise ValueError("a length of 0 alone is none to FRR: leave it out, or give a longer le")
        return self


class PrefixList(Model):
    """A named prefix list of one family. A prefix that no rule matches is denied."""

    family: Family = Field(default="ipv4", title="Family")
    """The address family of every rule."""
    description: Description = Field(default="", title="Description")
    """Shown beside the list."""
    rules: dict[Sequence, PrefixListRule] = Field(default_factory=dict, title="Rules", max_length=65535)
    """Rules by sequence, evaluated in ascending order."""

    @model_validator(mode="after")
    def _families(self) -> Self:
        known: dict[tuple[str, str, int, int], int] = {}
        for sequence, rule in sorted(self.rules.items()):
            if (":" in rule.prefix) != (self.family == "ipv6"):
                raise ValueError(f"rule {sequence}: {rule.prefix} is not an {self.family} prefix")
            first = known.setdefault((rule.action, rule.prefix, rule.ge or 0, rule.le or 0), sequence)
            if first != sequence:
                raise ValueError(
                    f"rule {sequence} is the same as rule {first}, and FRR keeps only one of them"
                )
        return self


def _regex(value: str) -> str:
    if (why := refusal(value)) is not None:
        raise ValueError(why)
    return value


AsPathRegex = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9_^$.*+?()\[\]|-]{1,120}$"),
    AfterValidator(_regex),
]
"""A regular expression over an AS path, as routers know it; ``_`` is a boundary."""


class AsPathRule(Model):
    """One line of an AS path list."""

    action: PermitDeny = Field(title="Action")
    """Whether a matching path passes."""
    regex: AsPathRegex = Field(title="Regular expression", examples=["^65001_", "_64512$"])
    """Compared with the AS path."""


class AsPathList(Model):
    """A named AS path list."""

    rules: dict[Sequence, AsPathRule] = Field(default_factory=dict, title="Rules")
    """Rules by sequence."""


def _community(value: str) -> str:
    words = {"no-export", "no-advertise", "local-AS", "no-peer", "blackhole", "graceful-shutdown"}
    if value in words:
        return value
    match = re.fullmatch(r"(\d{1,5}):(\d{1,5})", value)
    if match is None or int(match[1]) > 65535 or int(match[2]) > 65535:
        raise ValueError(
            "must be a community such as 65001:100 or a well-known name such as no-export (RFC 1997)"
        )
    if int(match[1]) == 0 and int(match[2]) == 0:
        raise ValueError("0:0 is reserved (RFC 1997), and means every route to some routers")
    return f"{int(match[1])}:{int(match[2])}"


Community = Annotated[
    str, AfterValidator(_community), Field(examples=["65001:100", "no-export"], max_length=20)
]
"""A standard community (RFC 1997)."""


def _large_community(value: str) -> str:
    match = re.fullmatch(r"(\d{1,10}):(\d{1,10}):(\d{1,10})", value)
    if match is None or any(int(part) > 0xFFFFFFFF for part in match.groups()):
        raise ValueError("must be a large community such as 65001:1:2 (RFC 8092)")
    return ":".join(str(int(part)) for part in match.groups())


LargeCommunity = Annotated[
    str, AfterValidator(_large_community), Field(examples=["65001:1:2"], max_length=32)
]
"""A large community (RFC 8092)."""


def _no_community_twice(name: str, values: tuple[str, ...]) -> None:
    """Raises ValueError naming both spellings of a community that is there twice."""
    spelled: dict[str, str] = {}
    for value in values:
        number = plain_community(value)
        if number not in spelled:
            spelled[number] = value
        elif spelled[number] == value:
            raise ValueError(f"{name} names {value} twice")
        else:
            raise ValueError(f"{name} names one twice: {spelled[number]} is {value}")


class CommunityRule(Model):
    """One line of a standard community list: all its communities have to be present."""

    action: PermitDeny = Field(title="Action")
    """Whether a matching route passes."""
    communities: tuple[Community, ...] = Field(min_length=1, max_length=16, title="Communities")
    """Communities that must all be present."""

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        _no_community_twice("communities", self.communities)
        return self


class CommunityList(Model):
    """A named standard community list."""

    rules: dict[Sequence, CommunityRule] = Field(default_factory=dict, title="Rules")
    """Rules by sequence."""


class Match(Model):
    """Conditions of a route map rule; all that are given have to hold."""

    prefix_list: PrefixListName | None = Field(default=None, title="IPv4 prefix list")
    """The prefix passes this IPv4 prefix list."""
    ipv6_prefix_list: PrefixListName | None = Field(default=None, title="IPv6 prefix list")
    """The prefix passes this IPv6 prefix list."""
    as_path_list: AsPathListName | None = Field(default=None, title="AS path list")
    """The AS path passes this list."""
    community_list: CommunityListName | None = Field(default=None, title="Community list")
    """The communities pass this list."""
    interface: InterfaceReference | None = Field(default=None, title="Interface")
    """The route leaves through this interface."""
    metric: int | None = Field(default=None, ge=1, le=4294967295, title="Metric")
    """The metric (MED) equals this. FRR cannot match 0: release 8.4 accepts the line and then aborts."""
    tag: int | None = Field(default=None, ge=1, le=4294967295, title="Tag")
    """The route tag equals this."""
    source_protocol: Literal["bgp", "connected", "kernel", "ospf", "static"] | None = Field(
        default=None, title="Source protocol"
    )
    """The route was learned from this protocol. BGP knows this from FRR 10 on, OSPF does not."""


def _next_hop(value: str) -> str:
    if not is_unicast(value):
        raise ValueError(f"{value} cannot be a next hop: it is not the address of a host")
    return value


def _global_next_hop(value: str) -> str:
    if ip_address(value).is_link_local:
        raise ValueError(f"{value} is link-local: give a global address")
    return _next_hop(value)


_NextHop = Annotated[Address, AfterValidator(_next_hop)]
_GlobalNextHop = Annotated[Address, AfterValidator(_global_next_hop)]


class SetActions(Model):
    """Changes to a permitted route."""

    local_preference: int | None = Field(default=None, ge=0, le=4294967295, title="Local preference")
    """BGP LOCAL_PREF (RFC 4271)."""
    metric: int | None = Field(default=None, ge=0, le=4294967295, title="Metric")
    """MED, or the metric of the target protocol."""
    metric_type: Literal["type-1", "type-2"] | None = Field(default=None, title="OSPF metric type")
    """OSPF external metric type (RFC 2328)."""
    weight: int | None = Field(default=None, ge=0, le=4294967295, title="Weight")
    """Local weight; higher wins."""
    origin: Literal["igp", "incomplete"] | None = Field(default=None, title="Origin")
    """BGP ORIGIN."""
    next_hop: _NextHop | None = Field(default=None, title="IPv4 next hop")
    """IPv4 next hop."""
    ipv6_next_hop: _GlobalNextHop | None = Field(default=None, title="IPv6 next hop")
    """IPv6 global next hop."""
    as_path_prepend: tuple[Asn, ...] = Field(default=(), max_length=10, title="Prepend AS path")
    """AS numbers put in front of the path."""
    communities: tuple[Community, ...] = Field(default=(), max_length=16, title="Communities")
    """Communities the route gets."""
    communities_additive: bool = Field(default=False, title="Keep existing communities")
    """Add to the communities present instead of replacing them."""
    large_communities: tuple[LargeCommunity, ...] = Field(
        default=(), max_length=16, title="Large communities"
    )
    """Large communities the route gets, replacing those present."""
    tag: int | None = Field(default=None, ge=1, le=4294967295, title="Tag")
    """Route tag."""
    source: Address | None = Field(default=None, title="Preferred source")
    """Source address of packets that this router itself sends by this route. BGP and OSPF ignore it."""

    @model_validator(mode="after")
    def _families(self) -> Self:
        if self.next_hop is not None and ":" in self.next_hop:
            raise ValueError("next_hop must be an IPv4 address: an IPv6 one belongs into ipv6_next_hop")
        if self.ipv6_next_hop is not None and ":" not in self.ipv6_next_hop:
            raise ValueError("ipv6_next_hop must be an IPv6 address")
        if self.communities_additive and not self.communities:
            raise ValueError("communities_additive needs communities")
        _no_community_twice("communities", self.communities)
        _no_community_twice("large_communities", self.large_communities)
        return self


class RouteMapRule(Model):
    """One rule of a route map."""

    action: PermitDeny = Field(title="Action")
    """Whether a matching route passes."""
    description: Description = Field(default="", title="Description")
    """Shown beside the rule."""
    match: Match = Field(default_factory=Match, title="Match")
    """Conditions; none means every route."""
    set: SetActions = Field(default_factory=SetActions, title="Set")
    """Changes to a permitted route."""
    call: RouteMapName | None = Field(default=None, title="Call")
    """Another route map that must permit as well."""
    on_match_next: bool = Field(default=False, title="Continue")
    """After a match, go on with the next rule."""
    on_match_goto: Sequence | None = Field(default=None, title="Continue at")
    """After a match, go on with this rule, which comes later."""

    @model_validator(mode="after")
    def _one_continuation(self) -> Self:
        if self.on_match_next and self.on_match_goto is not None:
            raise ValueError("give on_match_next or on_match_goto, not both")
        if self.action == "deny" and (self.on_match_next or self.on_match_goto is not None):
            raise ValueError("a deny rule ends the route map: it cannot continue at another rule")
        return self


class RouteMap(Model):
    """A named route map. A route that no rule matches is denied."""

    rules: dict[Sequence, RouteMapRule] = Field(default_factory=dict, title="Rules")
    """Rules by sequence."""

    @model_validator(mode="after")
    def _forward_only(self) -> Self:
        for sequence, rule in self.rules.items():
            if rule.on_match_goto is not None and rule.on_match_goto <= sequence:
                raise ValueError(f"rule {sequence}: on_match_goto must name a later rule")
        return self


class Policy(Model):
    """The lists and maps by which BGP, OSPF and redistribution filter and change routes."""

    prefix_lists: dict[Name, PrefixList] = Field(
        default_factory=dict, title="Prefix lists", json_schema_extra={"x-noun": "prefix list"}
    )
    """Prefix lists by name."""
    as_path_lists: dict[Name, AsPathList] = Field(
        default_factory=dict, title="AS path lists", json_schema_extra={"x-noun": "AS path list"}
    )
    """AS path lists by name."""
    community_lists: dict[Name, CommunityList] = Field(
        default_factory=dict, title="Community lists", json_schema_extra={"x-noun": "community list"}
    )
    """Standard community lists by name."""
    route_maps: dict[Name, RouteMap] = Field(
        default_factory=dict, title="Route maps", json_schema_extra={"x-noun": "route map"}
    )
    """Route maps by name."""
