"""A configuration of FRR as a typed tree: contexts with lines, and the daemons that have each line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from frr_config.errors import FrrConfigError
from frr_config.layout import place
from frr_config.line import Context, Daemons, Line
from frr_config.masking import mask_line
from frr_config.protocols import PROTOCOLS
from frr_config.syntax import ObjectKey
from frr_config.tables import object_of, opens, owners
from frr_config.version import FrrVersion


@dataclass(frozen=True)
class FrrConfig:
    """Lines, and for each the daemons that have it.

    Two configurations are equal when they have the same lines in the same daemons: the order in which
    FRR prints them says nothing.
    """

    version: FrrVersion
    holders: Mapping[Line, Daemons]
    vrf_of: Mapping[str, str] = field(default_factory=dict, compare=False)
    """The VRF of each interface that is in one, where it is known: no line says it."""
    hint: tuple[Line, ...] = field(default=(), compare=False, repr=False)
    """Lines in the order in which they are loaded, most of which are of this configuration too."""

    @classmethod
    def empty(cls, version: FrrVersion) -> FrrConfig:
        """Nothing configured."""
        return cls(version, {})

    @classmethod
    def of(
        cls,
        lines: Iterable[Line],
        version: FrrVersion,
        vrf_of: Mapping[str, str] | None = None,
        like: FrrConfig | None = None,
    ) -> FrrConfig:
        """Lines that every daemon which should have them has.

        ``like`` was made by this method too. What is known of the lines that both have is taken from there.
        """
        known = like.holders if like is not None and like.version == version else {}
        holders = {line: known.get(line) or owners(line.context, line.text, version) for line in lines}
        return cls(version, holders, vrf_of or {}, () if like is None else like.order_if_known)

    def __hash__(self) -> int:
        return hash((self.version, frozenset(self.holders.items())))

    @property
    def is_empty(self) -> bool:
        """True where there is no line at all."""
        return not self.holders

    def text(self) -> str:
        """The integrated configuration file, with secrets, in an order in which it can be loaded."""
        return self._written(masked=False)

    def masked_text(self) -> str:
        """The configuration file for people: secrets are ``********``."""
        return self._written(masked=True)

    def lines(self) -> Iterator[Line]:
        """All lines, in the order in which they are loaded."""
        yield from self._ordered

    def masked_lines(self) -> Iterator[Line]:
        """All lines for people: secrets are ``********``."""
        yield from (Line(line.context, mask_line(line.text)) for line in self._ordered)

    @property
    def order_if_known(self) -> tuple[Line, ...]:
        """The order in which lines are loaded, as far as somebody has asked for it; that of others, else."""
        known: tuple[Line, ...] = self.__dict__.get("_ordered", self.hint)
        return known

    @cached_property
    def _ordered(self) -> tuple[Line, ...]:
        # What is in order already is compared once a line, not once for each halving.
        kept = dict.fromkeys(line for line in self.hint if line in self.holders)
        return tuple(sorted([*kept, *(line for line in self.holders if line not in kept)], key=place))

    @cached_property
    def objects(self) -> Mapping[ObjectKey, Mapping[Line, Daemons]]:
        """The lines of each object."""
        objects: dict[ObjectKey, dict[Line, Daemons]] = {}
        for line, daemons in self.holders.items():
            objects.setdefault(object_of(line), {})[line] = daemons
        return objects

    @cached_property
    def identities(self) -> tuple[Mapping[ObjectKey, tuple[str, ...]], ...]:
        """By protocol, what cannot be changed on an object that exists."""
        return tuple(protocol.identities(self.holders) for protocol in PROTOCOLS)

    def _written(self, *, masked: bool) -> str:
        written = [
            f"frr version {self.version}",
            "frr defaults traditional",
            "service integrated-vtysh-config",
            "!",
        ]
        above: Context = ()
        for line in self._ordered:
            opened = (*line.context, line.text) if opens(line) else line.context
            if opened != above:
                written += _moved(above, opened)
            if not opens(line):
                written.append(" " * len(line.context) + (mask_line(line.text) if masked else line.text))
            above = opened
        written += _left(above, 0)
        return "\n".join([*written, "end", ""])

    def to_json(self) -> dict[str, Any]:
        """A form for the journal, with secrets; see ``from_json``."""
        lines = [
            [list(line.context), line.text, sorted(daemons)]
            for line, daemons in sorted(self.holders.items(), key=lambda item: item[0])
        ]
        return {"version": str(self.version), "lines": lines}

    @classmethod
    def from_json(cls, data: Any) -> FrrConfig:
        """The inverse of ``to_json``. Raises FrrConfigError."""
        try:
            holders = {
                Line(tuple(map(str, context)), str(text)): frozenset(map(str, daemons))
                for context, text, daemons in data["lines"]
            }
            return cls(FrrVersion.parse(data["version"]), holders)
        except (KeyError, TypeError, ValueError) as error:
            raise FrrConfigError(f"not a stored FRR configuration: {error}") from None


def masked_diff(before: FrrConfig, after: FrrConfig) -> list[str]:
    """Unified diff for people, without file names. A changed secret shows as a changed masked line."""
    if before == after:
        return []
    old, new = before.text().splitlines(), after.text().splitlines()
    diff = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return [line if line.startswith("@@") else line[:1] + mask_line(line[1:]) for line in diff]


_EXITS = {"address-family": "exit-address-family"}


def _moved(above: Context, below: Context) -> list[str]:
    """The lines that lead from one context to another."""
    shared = 0
    while shared < min(len(above), len(below)) and above[shared] == below[shared]:
        shared += 1
    moved = _left(above, shared)
    for depth in range(shared, len(below)):
        moved.append(" " * depth + below[depth])
    return moved


def _left(above: Context, shared: int) -> list[str]:
    left: list[str] = []
    for depth in range(len(above) - 1, shared - 1, -1):
        exit_line = _EXITS.get(above[depth].split()[0], "exit")
        left += [" " * depth + exit_line] + (["!"] if depth == 0 else [])
    return left
