"""References between objects of a document: dangling names, and where an object is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from appliance.config import schema
from appliance.config.document import RouterConfig
from appliance.config.marks import Marks, Token, marks_of, walk
from appliance.config.pointer import escape, join, split
from appliance.config.shape import Reference, document
from appliance.errors import Problem
from frr_config.types import Model

Document = RouterConfig | Mapping[str, Any]
"""A document, typed or plain. A plain one is in canonical form, so that each name has one spelling."""


@dataclass(frozen=True, order=True)
class Use:
    """One place of the document that names an object."""

    pointer: str
    """The place that names it: a setting, an item of a list, or the entry whose key it is."""
    target: str
    """The object."""
    must_exist: bool = True
    """Whether the document is invalid without the object."""


class References:
    """All references of one document, found in one walk; ``used_by`` alone walks for each question."""

    def __init__(self, config: Document) -> None:
        self._uses: dict[str, dict[str, list[tuple[str, bool]]]] = {}
        """Places by mapping and name, with whether they need the object."""
        walk(config, _marks(), self._note)

    def _note(self, place: list[Token], value: Any, reference: Reference) -> None:
        if isinstance(value, str) and reference.names(value):
            names = self._uses.setdefault(mapping_of(reference, place), {})
            names.setdefault(value, []).append((join(place), reference.to.must_exist))

    def used_by(self, pointer: str) -> list[Use]:
        """The places that name the object at ``pointer`` or one below it, sorted; not those inside it."""
        inside = pointer + "/"
        found = []
        for mapping, names in self._uses.items():
            for name in self._asked(mapping, names, pointer):
                target = f"{mapping}/{escape(name)}"
                found += [
                    Use(place, target, must_exist)
                    for place, must_exist in names.get(name, ())
                    if place != pointer and not place.startswith(inside)
                ]
        return sorted(found)

    @staticmethod
    def _asked(mapping: str, names: Iterable[str], pointer: str) -> Iterable[str]:
        """Names in the mapping of what is at or below the pointer."""
        if mapping == pointer or mapping.startswith(pointer + "/"):
            return names
        if pointer.startswith(mapping + "/") and len(tokens := split(pointer.removeprefix(mapping))) == 1:
            return tokens
        return ()


def dangling(config: Document) -> list[Problem]:
    """A problem at each place that names an object the document does not have."""
    problems: list[Problem] = []
    known: dict[str, Mapping[str, Any]] = {}

    def note(place: list[Token], value: Any, reference: Reference) -> None:
        mapping = mapping_of(reference, place)
        names = known.get(mapping)
        if names is None:
            names = known[mapping] = _mapping_at(config, mapping)
        if value not in names and reference.to.must_exist and reference.names(value):
            problems.append(Problem(join(place), f"there is no {noun_of(mapping)} {value}"))

    walk(config, _marks(), note)
    return problems


def mapping_of(reference: Reference, place: Sequence[Token]) -> str:
    """JSON pointer of the mapping that a reference at this place is a key of."""
    if reference.to.own_vrf and place[0] == "vrfs":
        return f"/vrfs/{escape(str(place[1]))}{reference.to.path}"
    return reference.to.path


def used_by(config: Document, pointer: str) -> list[Use]:
    """The places that name the object at ``pointer`` or one below it, sorted; not those inside it."""
    return References(config).used_by(pointer)


def problems_without(config: Document, pointer: str) -> list[Problem]:
    """A problem at each place that needs the object at ``pointer``: why it cannot be removed."""
    return [
        Problem(use.pointer, f"uses {noun_of(use.target.rpartition('/')[0])} {split(use.target)[-1]}")
        for use in used_by(config, pointer)
        if use.must_exist
    ]


@cache
def noun_of(mapping: str) -> str:
    """The noun for an entry of the mapping at this pointer, such as ``access list``."""
    return str(schema.at(mapping).get("x-noun", "object"))


@cache
def _marks() -> Marks[Reference]:
    return marks_of(document(), lambda leaf: leaf.reference, lambda keyed: keyed.key_reference)


def _mapping_at(config: Document, pointer: str) -> Mapping[str, Any]:
    node: Any = config
    for token in split(pointer):
        node = getattr(node, token, None) if isinstance(node, Model) else (node or {}).get(token)
    return node if isinstance(node, Mapping) else {}
