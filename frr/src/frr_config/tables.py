"""What a line means, looked up in the protocols' syntax tables. All generic code asks here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from frr_config.line import Context, Daemons, Line
from frr_config.masking import mask_line
from frr_config.protocols import PROTOCOLS
from frr_config.syntax import Form, Kind, ObjectKey, Opener, Section, Setting
from frr_config.version import FrrVersion

_NOBODY: Daemons = frozenset()
_OPENERS = (Opener("router "), *(opener for protocol in PROTOCOLS for opener in protocol.openers))
_KEPT_AT_THE_TOP = tuple(opener.words for opener in _OPENERS if not opener.inside and not opener.empty)
_KEPT_INSIDE = tuple(opener for opener in _OPENERS if opener.inside and not opener.empty)
OPENERS_AT_THE_TOP = tuple(opener.words for opener in _OPENERS if not opener.inside)
"""What lines at the top begin with that open a context."""
OPENERS_INSIDE = tuple(opener.words for opener in _OPENERS if opener.inside)
"""What lines in a context begin with that open another one."""
EMPTY_CONTEXTS = tuple(opener.words for opener in _OPENERS if opener.empty)
"""What opens a context that FRR prints, and keeps, without anything in it: the opening line says nothing."""

FOREIGN = Kind(
    "foreign", title=lambda name: f"foreign configuration: {mask_line(name)}", path=lambda _name: ""
)
"""Lines that no document can say."""


class Meaning(NamedTuple):
    """What the tables know of a line."""

    section: Section
    form: Form
    match: re.Match[str]


def opens(line: Line) -> bool:
    """Whether a line opens a context that FRR prints even where nothing is in it."""
    if not line.context:
        return line.text.startswith(_KEPT_AT_THE_TOP)
    return len(line.context) == 1 and any(
        line.text.startswith(opener.words) and line.context[0].startswith(opener.inside)
        for opener in _KEPT_INSIDE
    )


@lru_cache(maxsize=1 << 16)
def meaning_of(context: Context, text: str) -> Meaning | None:
    """The form a line takes, or None where no table knows it."""
    for section, form in _candidates(context, text.partition(" ")[0]):
        if (match := form.pattern.match(text)) is not None:
            return Meaning(section, form, match)
    return None


@lru_cache(maxsize=1 << 16)
def _sections_of(context: Context) -> tuple[Section, ...]:
    return tuple(
        section
        for protocol in PROTOCOLS
        for section in protocol.sections
        if section.opened_by(context) is not None
    )


@lru_cache(maxsize=1 << 16)
def _candidates(context: Context, first_word: str) -> tuple[tuple[Section, Form], ...]:
    """The forms a line may take by its first word; one that cannot be told by it is always among them."""
    return tuple(
        (section, form)
        for section in _sections_of(context)
        for form in section.forms
        if (literal := _literal_start(form)) is None or literal == first_word
    )


@lru_cache(maxsize=1 << 12)
def _literal_start(form: Form) -> str | None:
    """The first word of a form, where it is the same for all of its lines."""
    match = re.match(r"([a-z-]+)(?: |$)", form.words)
    return None if match is None or "|" in form.words.partition(" ")[0] else match[1]


@lru_cache(maxsize=1 << 16)
def object_of(line: Line) -> ObjectKey:
    """The object a line belongs to; ``FOREIGN`` for what no document can say."""
    meaning = meaning_of(line.context, line.text)
    kind = None if meaning is None else _kind_of(meaning)
    root = "".join(line.context[:1])
    if meaning is None or kind is None:
        return ObjectKey(FOREIGN, root or line.text, root or line.text)
    return ObjectKey(kind, line.text if meaning.form.opens else root, _name_of(meaning, line.context))


def _kind_of(meaning: Meaning) -> Kind | None:
    kind = meaning.form.kind or meaning.section.kind
    return kind(meaning.match) if callable(kind) else kind


def _name_of(meaning: Meaning, context: Context) -> str:
    """As the line says it, or else its context."""
    for match in (meaning.match, meaning.section.opened_by(context)):
        if match is not None and (name := match.groupdict().get("name")) is not None:
            return name
    return ""


def owners(context: Context, text: str, version: FrrVersion) -> Daemons:
    """The daemons that have a line of a context; empty for a line this package never writes."""
    meaning = meaning_of(context, text)
    return _NOBODY if meaning is None else (meaning.form.owners or meaning.section.owners)(version)


def required_daemons(version: FrrVersion) -> tuple[str, ...]:
    """The daemons that have to run, in the order they are started."""
    daemons = ("zebra", *(daemon for protocol in PROTOCOLS for daemon in protocol.daemons))
    return ("mgmtd", *daemons) if version.has_mgmtd else daemons


@lru_cache(maxsize=1 << 16)
def setting_of(line: Line) -> Setting:
    """The setting a line is a value of; a line this package never writes is a setting of its own.

    Every removal is one that bgpd, ospfd, zebra, staticd and mgmtd were seen to accept.
    """
    if line.text.startswith("no "):
        return Setting(line.text, line.text.removeprefix("no "))
    meaning = meaning_of(line.context, line.text)
    if meaning is None:
        return Setting(line.text, f"no {line.text}")
    return meaning.form.setting(meaning.match, line.text)


def resets(line: Line, *, removed: bool) -> bool:
    """Whether changing the line resets what its kind says."""
    meaning = meaning_of(line.context, line.text)
    return meaning is not None and (meaning.form.resets or (removed and meaning.form.removal_resets))


def normal_line(text: str) -> str:
    """The canonical form of a stripped line: what its protocol says, or one space between words."""
    for protocol in PROTOCOLS:
        if (normal := protocol.normal(text)) is not None:
            return normal
    return " ".join(text.split()) if "  " in text else text


def without_repetitions(lines: dict[Line, None]) -> Iterator[Line]:
    """The lines without those that FRR prints besides another one which says the same and more."""
    in_context: dict[Context, set[str]] = {}
    for line in lines:
        if line.context:
            in_context.setdefault(line.context, set()).add(line.text)
    for line in lines:
        others = in_context.get(line.context, set())
        if not any(protocol.repeated(line.text, others) for protocol in PROTOCOLS):
            yield line
