"""The meaning of static routes' lines."""

from __future__ import annotations

import re
from collections.abc import Iterable

from frr_config.line import Daemons, Holders, Line
from frr_config.natural import natural
from frr_config.protocols.augments import of
from frr_config.protocols.static.model import NEXT_HOP
from frr_config.protocols.static.render import static_lines
from frr_config.syntax import NONE, Form, Kind, ObjectKey, Opener, Protocol, Ranker, Section, Setting, escape
from frr_config.version import FrrVersion

_WORDS = "|".join(("tag", "nexthop-vrf", *(one.word for one in of(NEXT_HOP))))
_PATH = re.compile(
    rf"(?P<path>ip(?:v6)? route \S+ (?:blackhole|\S+(?: (?!(?:{_WORDS})(?: |$))[a-z]\S*)?))"
    r"(?: tag \d+)?(?: (?P<distance>\d+))?(?P<vrf> nexthop-vrf \S+)?"
    + "".join(f"(?P<{one.word}> {form.words})?" for one in of(NEXT_HOP) for form in one.forms)
    + "$"
)
_KEPT = _PATH.groupindex.keys() - {"path", "distance", "vrf"}
"""What the lines of augmentations say: staticd keeps it where a new value of the path omits it."""


def _owners(version: FrrVersion) -> Daemons:
    return frozenset({"mgmtd" if version.has_mgmtd else "staticd"})


def _setting(_match: re.Match[str], text: str) -> Setting:
    """A path has one distance and one tag: new ones replace the old."""
    match = _PATH.match(text)
    if match is None:
        return Setting(text, f"no {text}")
    distance = "" if match["distance"] is None else f" {match['distance']}"
    vrf = match["vrf"] or ""
    return Setting(match["path"] + vrf, f"no {match['path']}{distance}{vrf}", _says_all)


def _says_all(old: str, new: str) -> bool:
    before, after = _PATH.match(old), _PATH.match(new)
    assert before is not None and after is not None
    return all(before[part] is None or after[part] is not None for part in _KEPT)


def _via(lines: Iterable[Line]) -> str:
    texts = sorted((line.text for line in lines), key=natural)
    paths = [text.split(" ", 3)[3] for text in texts]
    return " blackhole" if paths == ["blackhole"] else f" via {', '.join(paths)}"


def _without_conflict(lines: Iterable[Line]) -> bool:
    """The new path is set before the old one is removed, unless the two exclude each other.

    A blackhole and a path exclude each other, and so do two values of a path where the new one has fewer
    settings of other protocols.
    """
    of_path: dict[str, str] = {}
    for line in lines:
        if "blackhole" in line.text:
            return False
        match = _PATH.match(line.text)
        path = line.text if match is None else match["path"] + (match["vrf"] or "")
        if path in of_path and not _says_all(of_path[path], line.text):
            return False
        of_path[path] = line.text
    return True


def _loses(key: ObjectKey, before: Holders, after: Holders) -> str:
    """A path that is removed and set again forwards nothing in between."""
    lines = [*(line for line in before if line not in after), *(line for line in after if line not in before)]
    plain = any("blackhole" in line.text for line in lines)
    return NONE if plain or _without_conflict(lines) else f"loses packets to {key.name}{key.where}"


def _by_vrf(_before: Holders, _after: Holders) -> Ranker:
    """The paths of a VRF stand together, because they are given in its context."""
    return lambda key, _removed: (0, natural(key.vrf), natural(key.name))


STATIC = Kind(
    "static",
    title=lambda name: f"static route {name}",
    path=lambda name: f"/routing/static/{escape(name)}",
    additions_first=_without_conflict,
    detail=_via,
    loses=_loses,
    ranker=_by_vrf,
    plural="static routes",
    transactional=True,
    collection="/routing/static",
)

_LINES = (Form(r"(?:ip|ipv6) route (?P<name>\S+) ", STATIC, _setting),)

PROTOCOL = Protocol(
    "static",
    kinds=(STATIC,),
    sections=(Section("", _LINES, _owners), Section(r"vrf \S+", _LINES, _owners)),
    places={10: ("ip route ", "ipv6 route "), 15: ("vrf ",)},
    openers=(Opener("vrf ", empty=True),),
    lines_of_vrf=lambda routing, version, vrf: static_lines(routing.static, version, vrf),
    daemons=("staticd",),
)
