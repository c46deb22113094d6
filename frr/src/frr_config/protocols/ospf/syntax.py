"""The meaning of OSPFv2's lines. Impacts and removals are as observed in ospfd (tests/integration/frr)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from frr_config.line import Daemons, Holders, Line
from frr_config.protocols.augments import forms_of
from frr_config.protocols.ospf.model import OSPF_INTERFACE
from frr_config.protocols.ospf.render import ospf_lines
from frr_config.step import Command
from frr_config.syntax import (
    ANY,
    Form,
    Kind,
    ObjectKey,
    Opener,
    Protocol,
    Refresh,
    Section,
    Setting,
    by_name,
    escape,
    in_order,
    never,
)
from frr_config.version import FrrVersion

_DEFAULT = Line((), "router ospf")


def _ospfd(_version: FrrVersion) -> Daemons:
    return frozenset({"ospfd"})


def _all_reset(key: ObjectKey, *_holders: Holders) -> str:
    return f"resets ospf{key.where}"


def _interface_reset(key: ObjectKey, *_holders: Holders) -> str:
    return f"resets ospf on {key.name}"


OSPF = Kind(
    "ospf",
    title=lambda _: "OSPF",
    path=lambda _: "/routing/ospf",
    withdrawn_by_less=True,
    resets=_all_reset,
    removal_resets=_all_reset,
    repeated=("ospf ",),
)
INTERFACE = Kind(
    "ospf_interface",
    title=lambda name: f"OSPF on {name}",
    path=lambda name: f"/routing/ospf/interfaces/{escape(name)}",
    resets=_interface_reset,
    removal_resets=_interface_reset,
    repeated=("ip ospf ",),
)


def _area_type(match: re.Match[str], _text: str) -> Setting:
    return Setting(match["area"], f"no {match['area']} {match['type']}", never)


def _area(_match: re.Match[str], text: str) -> Setting:
    return Setting("ip ospf area", f"no {text}", never)


def _on_interface(words: str, **meaning: object) -> Form:
    return _interfaces_own(Form(words, **meaning))  # type: ignore[arg-type]  # as Form's own


def _interfaces_own(form: Form) -> Form:
    return replace(form, words=f"ip ospf {form.words}", kind=INTERFACE)


_LINES = (
    *in_order(
        Form("ospf router-id", setting=by_name, resets=True),
        Form("auto-cost reference-bandwidth", setting=by_name),
        Form("timers"),
        Form(r"(?P<area>area \S+) (?P<type>stub|nssa)", setting=_area_type, resets=True),
        Form("area"),
        Form("network"),
        Form(r"redistribute \S+", setting=by_name),
        Form("default-information originate", setting=by_name),
    ),
    ANY,
)
_ON_INTERFACE = (
    _on_interface("(?:network|hello-interval|dead-interval|authentication)", setting=by_name, resets=True),
    _on_interface("authentication-key", setting=by_name, resets=True, secret="ip ospf authentication-key"),
    _on_interface("(?:cost|priority)", setting=by_name),
    _on_interface(
        r"message-digest-key \d+", setting=by_name, resets=True, secret=r"ip ospf message-digest-key \d+ md5"
    ),
    _on_interface("area ", setting=_area, resets=True),
    _on_interface("passive", resets=True),
    *map(_interfaces_own, forms_of(OSPF_INTERFACE)),
    _on_interface(""),
)


def _said_twice(text: str, others: set[str]) -> bool:
    """FRR 8.4 prints ``area X nssa`` a second time, before ``area X nssa no-summary``."""
    return text.startswith("area ") and text.endswith(" nssa") and f"{text} no-summary" in others


def _refresh(before: Holders, after: Holders) -> Refresh:
    """ospfd takes a new router ID only when its process is cleared, which clears the adjacencies of all
    VRFs.
    """

    def refresh(key: ObjectKey, touched: Iterable[Line]) -> Iterator[Command]:
        kept = key.kind is OSPF and not key.vrf and _DEFAULT in before and _DEFAULT in after
        renamed = kept and any(line.text.startswith("ospf router-id ") for line in touched)
        if renamed and not (_has_vrfs(before) and _has_vrfs(after)):
            yield Command(("ospfd",), (), "clear ip ospf process", "exec")

    return refresh


def _identities(holders: Holders) -> Mapping[ObjectKey, tuple[str, ...]]:
    """Only a removed and re-created instance takes a new router ID without clearing the others."""
    if not _has_vrfs(holders):
        return {}
    found: dict[ObjectKey, tuple[str, ...]] = {}
    for line in holders:
        root = line.context[0] if line.context else line.text
        if root.startswith("router ospf"):
            router_id = (line.text,) if line.text.startswith("ospf router-id ") else ()
            key = ObjectKey(OSPF, root, "ospf")
            found[key] = found.get(key, ()) + router_id
    return found


def _has_vrfs(holders: Holders) -> bool:
    return any(not line.context and line.text.startswith("router ospf vrf ") for line in holders)


PROTOCOL = Protocol(
    "ospf",
    kinds=(OSPF, INTERFACE),
    sections=(
        Section(
            "", (Form(r"router (?P<name>ospf)(?: vrf \S+)?$", OSPF, opens=True), Form("router ospf")), _ospfd
        ),
        Section(r"router (?P<name>ospf)(?: vrf \S+)?", _LINES, _ospfd, OSPF),
        Section("router ospf.*", (ANY,), _ospfd),
        Section(r"interface (?P<name>\S+)", _ON_INTERFACE, _ospfd),
    ),
    places={90: ("interface ",), 100: ("router ospf",)},
    openers=(Opener("interface ", empty=True),),
    lines_of_vrf=lambda routing, version, vrf: ospf_lines(routing.ospf, version, vrf) if routing.ospf else (),
    daemons=("ospfd",),
    repeated=_said_twice,
    refresh=_refresh,
    identities=_identities,
)
