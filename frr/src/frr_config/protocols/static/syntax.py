"""What the lines of static routes mean."""

from __future__ import annotations

import re
from collections.abc import Iterable

from frr_config.line import Daemons, Line
from frr_config.natural import natural
from frr_config.syntax import Form, Kind, Protocol, Section, Setting, escape
from frr_config.version import FrrVersion

_PATH = re.compile(
    r"(?P<path>ip(?:v6)? route \S+ (?:blackhole|\S+(?: (?!tag )[a-z]\S*)?))"
    r"(?: tag \d+)?(?: (?P<distance>\d+))?$"
)


def _owners(version: FrrVersion) -> Daemons:
    return frozenset({"mgmtd" if version.has_mgmtd else "staticd"})


def _setting(_match: re.Match[str], text: str) -> Setting:
    """One path has one distance and one tag: new ones replace the old."""
    match = _PATH.match(text)
    if match is None:
        return Setting(text, f"no {text}")
    distance = "" if match["distance"] is None else f" {match['distance']}"
    return Setting(match["path"], f"no {match['path']}{distance}")


def _via(lines: Iterable[Line]) -> str:
    texts = sorted((line.text for line in lines), key=natural)
    paths = [text.split(" ", 3)[3] for text in texts]
    return " blackhole" if paths == ["blackhole"] else f" via {', '.join(paths)}"


def _without_blackhole(lines: Iterable[Line]) -> bool:
    """The new path is there before the old one goes; a blackhole and a path exclude each other."""
    return not any("blackhole" in line.text for line in lines)


STATIC = Kind(
    "static",
    title=lambda name: f"static route {name}",
    path=lambda name: f"/routing/static/{escape(name)}",
    additions_first=_without_blackhole,
    detail=_via,
    plural="static routes",
    transactional=True,
    collection="/routing/static",
)

PROTOCOL = Protocol(
    "static",
    kinds=(STATIC,),
    sections=(Section("", (Form(r"(?:ip|ipv6) route (?P<name>\S+) ", STATIC, _setting),), _owners),),
    places={10: ("ip route ", "ipv6 route ")},
    daemons=("staticd",),
)
