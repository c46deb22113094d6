"""The meaning of BGP's lines. Impacts and removals are as observed in bgpd (tests/integration/frr)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from frr_config.line import Daemons, Holders, Line
from frr_config.natural import natural
from frr_config.protocols.augments import forms_of
from frr_config.protocols.bgp.leaking import import_identities, import_title, imports_order, instances_order
from frr_config.protocols.bgp.model import BGP_SESSION
from frr_config.protocols.bgp.monitoring import (
    MONITORING,
    MONITORING_LINES,
    MONITORING_OPENER,
    monitoring_lines,
)
from frr_config.protocols.bgp.peers import filtered_by, is_address, members_of, neighbors_in, reset_of
from frr_config.protocols.bgp.render import bgp_lines
from frr_config.protocols.policy.syntax import PREFIX_LIST
from frr_config.step import Command
from frr_config.syntax import (
    ANY,
    NONE,
    Form,
    Kind,
    ObjectKey,
    Opener,
    Protocol,
    Refresh,
    Section,
    Setting,
    Wanted,
    by_name,
    by_value,
    escape,
    in_order,
    together,
)
from frr_config.version import FrrVersion


def _bgpd(_version: FrrVersion) -> Daemons:
    return frozenset({"bgpd"})


def _neighbor_reset(key: ObjectKey, *_holders: Holders) -> str:
    return reset_of([key.name], key.where)


def _members_reset(key: ObjectKey, before: Holders, after: Holders) -> str:
    return reset_of(members_of(key, before) & members_of(key, after), key.where)


def _instance_reset(key: ObjectKey, before: Holders, after: Holders) -> str:
    return reset_of(neighbors_in(key.root, before) & neighbors_in(key.root, after), key.where)


def _instance_removed(key: ObjectKey, before: Holders) -> str:
    return reset_of(neighbors_in(key.root, before), key.where)


def _group_removed(_key: ObjectKey, _before: Holders) -> str:
    return NONE  # its members were removed before it, each by a step of its own


POLICY_DELAY = Kind("policy_delay", title=lambda _: "BGP policy delay", path=lambda _: "/routing/bgp")
BGP = Kind(
    "bgp",
    title=lambda asn: f"BGP AS {asn}",
    path=lambda _: "/routing/bgp",
    owns_root=True,
    ranker=instances_order,
    resets=_instance_reset,
    removal_resets=_instance_removed,
)
PEER_GROUP = Kind(
    "peer_group",
    title=lambda name: f"BGP peer group {name}",
    path=lambda name: f"/routing/bgp/peer_groups/{escape(name)}",
    resets=_members_reset,
    removal_resets=_group_removed,
    forget="no neighbor {name} peer-group",
    repeated=("neighbor {name} ",),
)
NEIGHBOR = Kind(
    "neighbor",
    title=lambda name: f"BGP neighbor {name}",
    path=lambda name: f"/routing/bgp/neighbors/{escape(name)}",
    resets=_neighbor_reset,
    removal_resets=_neighbor_reset,
    forget="no neighbor {name}",
    repeated=("neighbor {name} ",),
)
FAMILY = Kind(
    "bgp_family",
    title=lambda name: f"BGP {'IPv4' if name == 'ipv4' else 'IPv6'} unicast",
    path=lambda name: f"/routing/bgp/{name}_unicast",
    withdrawn_by_less=True,
)
IMPORT = Kind(
    "bgp_import",
    title=import_title,
    path=lambda _: "/routing/bgp",
    leaves_first=True,
    ranker=imports_order,
)


def _peer(match: re.Match[str]) -> Kind:
    return NEIGHBOR if is_address(match["name"]) else PEER_GROUP


def _peer_key(name: str) -> tuple[Any, ...]:
    """Peer groups come before the neighbors that name them."""
    return (":" in name or name.replace(".", "").isdecimal(), natural(name))


def _policy(match: re.Match[str], text: str) -> Setting:
    """One is possible for each direction."""
    return Setting(f"{match['policy']} {text.rsplit(maxsplit=1)[-1]}", f"no {text}")


def _redistribution(match: re.Match[str], _text: str) -> Setting:
    return Setting(match[0], f"no {match[0]}", _says_all)


def _says_all(old: str, new: str) -> bool:
    """bgpd keeps a metric or a route map that the new line omits."""
    return set(old.split()[2::2]) <= set(new.split()[2::2])


def _of_peer(words: str, **meaning: Any) -> Form:
    return _peers_own(Form(words, **meaning))


def _peers_own(form: Form) -> Form:
    return replace(form, words=rf"(?:no )?neighbor (?P<name>\S+) {form.words}", kind=_peer)


_DISTANCES = ("ebgp-multihop", "ttl-security")
_PEERS = together(
    _peer_key,
    ranked=(
        _of_peer("peer-group$", resets=True),
        _of_peer("remote-as", setting=by_name, resets=True),
        _of_peer("peer-group", resets=True),
        _of_peer("description", setting=by_name),
        _of_peer("shutdown", resets=True),
        _of_peer("password", setting=by_name, resets=True, secret=r"neighbor \S+ password"),
        _of_peer("passive", resets=True),
        _of_peer("ebgp-multihop", setting=by_name, resets=True),
        _of_peer("ttl-security", setting=by_value, resets=True),
        _of_peer("update-source", setting=by_name, resets=True),
        _of_peer("timers connect", setting=by_name),
        _of_peer("timers", setting=by_name),
        *map(_peers_own, forms_of(BGP_SESSION)),
        _of_peer("activate", resets=True),
    ),
    others=(
        _of_peer("(?:allowas-in|maximum-prefix)", setting=by_name),
        _of_peer("route-reflector-client", resets=True),
        Form(
            r"(?P<policy>neighbor (?P<name>\S+) (?:route-map|prefix-list)) \S+ (?:in|out)$",
            _peer,
            setting=_policy,
        ),
        _of_peer(""),
    ),
)
_LINES = (
    *in_order(
        Form("bgp router-id", setting=by_name, resets=True),
        Form("no bgp ebgp-requires-policy"),
        Form("no bgp default"),
        Form("bgp route-reflector allow-outbound-policy"),
        Form("timers bgp", setting=by_name),
        Form("network"),
        Form(r"redistribute \S+", setting=_redistribution),
        _PEERS,
        Form("maximum-paths ibgp", setting=by_name),
        Form("maximum-paths", setting=by_name),
    ),
    # Importing from an instance that does not exist creates it, with this instance's AS number.
    Form("import vrf (?P<name>route-map)", IMPORT, by_name, last=True),
    Form(r"import vrf (?P<name>\S+)$", IMPORT, last=True),
    ANY,
)
_TOP = (
    Form("bgp route-map delay-timer", POLICY_DELAY, by_name),
    Form(r"router bgp (?P<name>\d+)(?: vrf \S+)?$", BGP, opens=True),
    Form("(?:router )?bgp"),
)


def _normal(text: str) -> str | None:
    """FRR 10 omits the largest number of hops. A description may have several spaces in a row."""
    if text.endswith(" ebgp-multihop"):
        return f"{text} 255"
    return text if text.startswith("neighbor ") else None


def _refresh(before: Holders, after: Holders) -> Refresh:
    filters = filtered_by(before, after)

    def refresh(key: ObjectKey, touched: Iterable[Line]) -> Iterator[Command]:
        if key.kind is PREFIX_LIST:
            word, _, name = key.name.split()
            yield from filters.get(("ipv6" if word == "ipv6" else "ipv4", name), ())
            return
        kept = key.kind is BGP and Line((), key.root) in before and Line((), key.root) in after
        if kept and any(line.text == "no bgp ebgp-requires-policy" for line in touched):
            instance = f"vrf {key.vrf} " if key.vrf else ""
            yield Command(("bgpd",), (), f"clear bgp {instance}* soft", "exec")

    return refresh


def _identities(holders: Holders) -> Mapping[ObjectKey, tuple[str, ...]]:
    """For each neighbor and peer group: its remote AS, and the name, remote AS and families of its group; and
    where there is a group, the distances of both (``ebgp-multihop``, ``ttl-security``).

    A new remote AS makes bgpd forget multihop settings. A peer group that gains or loses its remote AS, or a
    family, removes its members. A neighbor cannot change its group and keep its settings. The distance of a
    group overwrites its members', and while either has one sort of distance, bgpd refuses the other sort on
    both. All of these reset the session in any case.
    """
    remote_as: dict[tuple[str, str], str] = {}
    distance: dict[tuple[str, str], str] = {}
    group_of: dict[tuple[str, str], str] = {}
    families: dict[tuple[str, str], list[str]] = {}
    names: dict[tuple[str, str], None] = {}
    for line in holders:
        if not line.text.startswith("neighbor ") or not line.context:
            continue
        words = line.text.split()
        peer = (line.context[0], words[1])
        names[peer] = None
        if words[2] == "remote-as":
            remote_as[peer] = words[3]
        elif words[2] in _DISTANCES:
            distance[peer] = " ".join(words[2:])
        elif words[2] == "peer-group" and len(words) > 3:
            group_of[peer] = words[3]
        elif words[2:] == ["activate"]:
            families.setdefault(peer, []).append(line.context[-1])
    found: dict[ObjectKey, tuple[str, ...]] = {}
    for root, name in names:
        own = remote_as.get((root, name), "")
        if not is_address(name):
            found[ObjectKey(PEER_GROUP, root, name)] = (own, distance.get((root, name), ""))
            continue
        group = group_of.get((root, name))
        if group is None:
            found[ObjectKey(NEIGHBOR, root, name)] = (own,)
            continue
        distances = (distance.get((root, name), ""), distance.get((root, group), ""))
        shared = sorted(families.get((root, group), []))
        found[ObjectKey(NEIGHBOR, root, name)] = (
            own,
            group,
            remote_as.get((root, group), ""),
            *distances,
            *shared,
        )
    return found | import_identities(IMPORT, holders)


def _monitoring(wanted: Wanted) -> Iterator[Line]:
    if wanted.indexed and wanted.routing.bgp is not None:
        yield from monitoring_lines(wanted.routing.bgp.asn)


PROTOCOL = Protocol(
    "bgp",
    kinds=(POLICY_DELAY, BGP, PEER_GROUP, NEIGHBOR, FAMILY, IMPORT, MONITORING),
    sections=(
        Section("", _TOP, _bgpd),
        Section(r"router bgp (?P<name>\d+)(?: vrf \S+)?", _LINES, _bgpd, BGP),
        Section(
            r"router bgp \d+(?: vrf \S+)? / address-family (?P<name>ipv4|ipv6) unicast", _LINES, _bgpd, FAMILY
        ),
        Section(MONITORING_OPENER, MONITORING_LINES, _bgpd, MONITORING),
        Section(r"router bgp .*", (ANY,), _bgpd),
    ),
    places={60: ("bgp route-map delay-timer ",), 80: ("router bgp ",)},
    openers=(
        Opener("address-family ", inside="router bgp ", empty=True),
        Opener("bmp targets ", inside="router bgp ", empty=True),
    ),
    lines=_monitoring,
    lines_of_vrf=lambda routing, version, vrf: bgp_lines(routing.bgp, version, vrf) if routing.bgp else (),
    daemons=("bgpd",),
    normal=_normal,
    refresh=_refresh,
    identities=_identities,
)
