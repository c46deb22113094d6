"""The vocabulary of the protocols' syntax tables: kinds of objects, and the forms of their lines.

A protocol (``frr_config.protocols``) declares in these words what its lines mean. All code that reads,
orders, plans, masks or removes lines is generic and looks the meaning up (``frr_config.tables``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from frr_config.line import Context, Daemons, Holders, Line
from frr_config.step import Command
from frr_config.version import FrrVersion

if TYPE_CHECKING:
    from frr_config.routing import Routing, VrfRouting

NONE = "none"
"""The impact of a change that affects no session and no packet."""
_IN_VRF = re.compile(r"^(?:router \S+(?: \d+)? )?vrf (\S+)$")
UNRANKED = 1 << 16
"""Rank of a form without a position of its own in its context."""

OwnersOf = Callable[[FrrVersion], Daemons]
Replaces = Callable[[str, str], bool]
"""Whether giving the new line (the second argument) is enough to remove the old one."""


class ObjectKey(NamedTuple):
    """An object: its kind, its place in FRR's configuration, and its name."""

    kind: Kind
    root: str
    """The context that it is in or opens: ``router bgp 65000``; empty at the top."""
    name: str

    @property
    def path(self) -> str:
        """JSON pointer of the object in the document; empty for lines that are not part of the document."""
        return self.path_in(self.vrf)

    def path_in(self, vrf: str) -> str:
        """The same where the object is in this VRF; empty means the default one."""
        return _in_vrf(self.kind.path(self.name), vrf)

    @property
    def collection(self) -> str:
        """JSON pointer of the mapping that holds objects of its kind."""
        return _in_vrf(self.kind.collection, self.vrf)

    @property
    def vrf(self) -> str:
        """Name of the VRF whose context it is in; empty for none, or the default one."""
        match = _IN_VRF.search(self.root)
        return "" if match is None else match[1]

    @property
    def where(self) -> str:
        """The text that follows its name in an impact: `` in vrf blue``."""
        return f" in vrf {self.vrf}" if self.vrf else ""

    @property
    def title(self) -> str:
        """Its title in a summary."""
        return self.kind.title(self.name) + (f" in VRF {self.vrf}" if self.vrf else "")


def _in_vrf(path: str, vrf: str) -> str:
    return f"/vrfs/{escape(vrf)}{path}" if vrf and path else path


def _no_impact(_key: ObjectKey, _before: Holders, _after: Holders) -> str:
    return NONE


def _no_removal_impact(_key: ObjectKey, _before: Holders) -> str:
    return NONE


Refresh = Callable[[ObjectKey, Iterable[Line]], Iterable[Command]]
"""Operational commands that follow the change of an object's lines (the second argument)."""


def _no_refresh(_before: Holders, _after: Holders) -> Refresh:
    return lambda _key, _touched: ()


def _nothing_dragged(_before: Holders, _gone: Holders) -> dict[Line, Daemons]:
    return {}


def _no_detail(_lines: Iterable[Line]) -> str:
    return ""


def _removals_first(_lines: Iterable[Line]) -> bool:
    return False


Ranker = Callable[[ObjectKey, bool], tuple[Any, ...]]
"""The position of an object among the changes of its kind, and whether it is removed (the second
argument).
"""


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of object. A step of a plan changes one object; the differences between kinds are declared
    here.
    """

    word: str
    """``neighbor``: for people who debug."""
    title: Callable[[str], str]
    """The title of an object of this name."""
    path: Callable[[str], str]
    """JSON pointer of an object of this name."""
    owns_root: bool = False
    """Removing it removes everything below the line that opens its context."""
    leaves_first: bool = False
    """It is removed by a step of its own even where its whole instance is removed."""
    withdrawn_by_less: bool = False
    """Losing lines without gaining any withdraws routes, like removing the object."""
    resets: Callable[[ObjectKey, Holders, Holders], str] = _no_impact
    """Impact of a change to one of its lines whose form resets sessions."""
    loses: Callable[[ObjectKey, Holders, Holders], str] = _no_impact
    """Impact of a change that resets nothing, from the object's own lines alone."""
    removal_resets: Callable[[ObjectKey, Holders], str] = _no_removal_impact
    """Impact of removing it."""
    forget: str | None = None
    """The line that removes the whole object at once; ``{name}`` stands for its name."""
    distinct_values: bool = False
    """A list whose daemon ignores or refuses a rule that repeats another rule of the list."""
    dragged: Callable[[Holders, Holders], dict[Line, Daemons]] = _nothing_dragged
    """Lines (of the first argument) that have to be written again when the second's are removed."""
    additions_first: Callable[[Iterable[Line]], bool] = _removals_first
    """Whether new lines are given before old ones are removed, so that one of them is always in place."""
    detail: Callable[[Iterable[Line]], str] = _no_detail
    """The text that follows the title in a summary: `` via 10.0.0.2``."""
    repeated: tuple[str, ...] = ()
    """Words that only repeat the object of a line; ``{name}`` stands for its name."""
    plural: str = ""
    """The title of many objects of the kind; empty where every object is a step of its own."""
    short: Callable[[str], str] = str
    """The part of a name that identifies the object among many of its kind."""
    collection: str = ""
    """JSON pointer of the mapping that holds many of them."""
    transactional: bool = False
    """Its daemons keep it in their northbound tree: many of its lines can be given as one transaction."""
    ranker: Callable[[Holders, Holders], Ranker] | None = None
    """Made once for a plan; None: by name."""


def always(_old: str, _new: str) -> bool:
    """A new value replaces the old one."""
    return True


def never(_old: str, _new: str) -> bool:
    """The old value has to be removed first."""
    return False


class Setting(NamedTuple):
    """The meaning of a line for the plan."""

    key: str
    """Lines of one context with the same key are values of the same setting."""
    removal: str
    """The line that removes it."""
    replaced: Replaces = always
    """Whether a new value of the setting can be given without removing the old one."""
    goes_with_context: bool = True
    """Removing the context that the line is in removes it as well."""


SettingOf = Callable[[re.Match[str], str], Setting]


def whole_line(_match: re.Match[str], text: str) -> Setting:
    """The line is a setting of its own."""
    return Setting(text, f"no {text}")


def by_name(match: re.Match[str], _text: str) -> Setting:
    """The words of the form are enough to remove it."""
    return Setting(match[0], f"no {match[0]}")


def by_value(match: re.Match[str], text: str) -> Setting:
    """It is removed together with its value."""
    return Setting(match[0], f"no {text}")


@dataclass(frozen=True, eq=False)
class Form:
    """One form of lines in a context: ``words`` is a regular expression for everything that precedes a value.

    A table is searched in its order; the first form that matches the beginning of a line is the line's form.
    A group ``name`` names the object; without one the object is the one that the context names.
    """

    words: str
    kind: Kind | Callable[[re.Match[str]], Kind] | None = None
    """None: the section's."""
    setting: SettingOf = whole_line
    owners: OwnersOf | None = None
    """The daemons that take, keep and print the line; None: the section's."""
    opens: bool = False
    """It opens the context that contains the rest of its object."""
    resets: bool = False
    """Changing the line resets what its kind's ``resets`` says."""
    removal_resets: bool = False
    """Removing the line resets, giving it does not."""
    secret: str = ""
    """A regular expression for what precedes a secret; empty where the line holds none."""
    rank: int = UNRANKED
    """Its position in its context; forms of one rank stand in the natural order of their text."""
    group: Callable[[str], tuple[Any, ...]] | None = None
    """Sort key by the named object, whose lines stand together."""
    inner_rank: int = UNRANKED
    """Its position among the lines of its group."""
    last: bool = False
    """It stands in the file after all similar lines: it needs other contexts of its kind."""
    pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ends = "" if self.words.endswith(("$", " ")) else "(?= |$)"
        object.__setattr__(self, "pattern", re.compile(f"(?:{self.words}){ends}"))


ANY = Form(".*$")
"""Matches every line that no form before it matches."""


@dataclass(frozen=True, eq=False)
class Section:
    """Lines below one kind of opener, or at the top (``opener`` empty)."""

    opener: str
    """A regular expression for the whole context, its lines joined by `` / ``.

    A group ``name`` names the object."""
    forms: tuple[Form, ...]
    owners: OwnersOf
    """For lines whose form names no daemons."""
    kind: Kind | None = None
    """For lines whose form names no kind. None: they are foreign, like lines that match no form."""
    pattern: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", re.compile(self.opener))

    def opened_by(self, context: Context) -> re.Match[str] | None:
        """The match where a context is one of this section's."""
        return self.pattern.fullmatch(" / ".join(context))


class Opener(NamedTuple):
    """What lines begin with that open a context."""

    words: str
    inside: str = ""
    """What the line begins with that opens the context they are in; empty: they are at the top."""
    empty: bool = False
    """FRR prints, and keeps, the context without anything in it: the line that opens it says nothing."""


class Wanted(NamedTuple):
    """What a whole router is to have."""

    routing: Routing
    feeds: bool
    """A feeder beside zebra is told of its routes."""
    indexed: bool
    """An index beside bgpd is told of its routes of the default VRF."""


def _no_lines(_wanted: Wanted) -> Iterable[Line]:
    return ()


def _no_lines_of_vrf(_routing: VrfRouting, _version: FrrVersion, _vrf: str) -> Iterable[Line]:
    return ()


def _as_it_is(_text: str) -> str | None:
    return None


def _never_repeated(_text: str, _others: set[str]) -> bool:
    return False


def _no_identities(_holders: Holders) -> Mapping[ObjectKey, tuple[str, ...]]:
    return {}


@dataclass(frozen=True, eq=False)
class Protocol:
    """Everything that the generic code knows of one protocol."""

    word: str
    kinds: tuple[Kind, ...]
    """In the order in which they are announced; they are withdrawn in reverse order."""
    sections: tuple[Section, ...]
    places: Mapping[int, tuple[str, ...]]
    """Where in the file lines with these beginnings stand: as FRR prints them, what is named first."""
    openers: tuple[Opener, ...] = ()
    """Of contexts that its lines are in, but for ``router``, which every protocol may have."""
    lines: Callable[[Wanted], Iterable[Line]] = _no_lines
    """Of what all VRFs share. May raise RenderError."""
    lines_of_vrf: Callable[[VrfRouting, FrrVersion, str], Iterable[Line]] = _no_lines_of_vrf
    """Of what a VRF has of its own, by name; empty: the default one. May raise RenderError."""
    daemons: tuple[str, ...] = ()
    """Daemons that run for it, in addition to zebra."""
    named_by_others: bool = False
    """Policy: removed last of all, when nothing names it any more."""
    normal: Callable[[str], str | None] = _as_it_is
    """The canonical form of a line that releases of FRR print differently; None: unchanged."""
    repeated: Callable[[str, set[str]], bool] = _never_repeated
    """Whether FRR prints a line in addition to another of its context that says the same and more."""
    refresh: Callable[[Holders, Holders], Refresh] = _no_refresh
    """Made once for a plan. The commands that make existing routes follow a change of an object, done or
    undone; also for an object that this protocol only names.
    """
    identities: Callable[[Holders], Mapping[ObjectKey, tuple[str, ...]]] = _no_identities
    """Properties that cannot be changed on an existing object: where one differs, the object is removed
    and created again.
    """


def in_order(*places: Form | tuple[Form, ...]) -> tuple[Form, ...]:
    """The forms with ranks in this order; those in one tuple share a rank."""
    ranked: list[Form] = []
    for rank, place in enumerate(places):
        forms = place if isinstance(place, tuple) else (place,)
        ranked += [replace(form, rank=rank) for form in forms]
    return tuple(ranked)


def together(
    key: Callable[[str], tuple[Any, ...]], ranked: Iterable[Form], others: Iterable[Form]
) -> tuple[Form, ...]:
    """Forms of named objects whose lines stand together, ordered by ``key`` of the name, ranked first."""
    first = [replace(form, group=key, inner_rank=rank) for rank, form in enumerate(ranked)]
    return (*first, *(replace(form, group=key) for form in others))


def escape(name: str) -> str:
    """A name as a part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
