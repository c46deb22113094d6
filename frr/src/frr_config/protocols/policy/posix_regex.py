"""Whether bgpd takes a regular expression: by the function that it asks, the C library's ``regcomp``.

bgpd puts ``(^|[,{}() ]|$)`` in the place of each ``_`` and compiles the result as an extended expression
(POSIX).
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field

BOUNDARY = "(^|[,{}() ]|$)"
"""What bgpd puts in the place of ``_``."""
MOST_EMPTY_REPEATS = 4
"""Repetitions of something that matches an empty text. The GNU C library copies the boundaries inside at each
of them: eight take longer than a minute, and bgpd answers nobody in that time."""
MOST_BOUNDARIES_IN_A_ROW = 32
"""Boundaries with nothing between them that must be there. The GNU C library connects each with each other:
120 take ten seconds and 2 GB, in bgpd too. A repetition of what can be empty counts as four."""
MOST_ATOMS = 1000
"""Characters of an expression in which each ``+`` is written out. The GNU C library copies what it repeats,
so each ``+`` around another doubles it: with 39 it does not end."""

_EXTENDED, _ONLY_WHETHER = 1, 8
_LARGEST_COMPILED_BYTES = 512
"""A ``regex_t`` has 64 bytes in the GNU C library, and 56 in musl."""
_LONGEST_MESSAGE_BYTES = 200
_REPEATS = "*+?"


def refusal(text: str) -> str | None:
    """Why bgpd would refuse this expression, with the place that is wrong; None where it takes it.

    ``text`` is in the alphabet of the document, without braces and backslashes.
    """
    scan = _Scan(text)
    if scan.boundary_in_brackets:
        return (
            f"the _ at character {scan.boundary_in_brackets} is in brackets, where FRR puts {BOUNDARY} in its"
            " place too: that is not a boundary any more"
        )
    if scan.empty_repeats > MOST_EMPTY_REPEATS:
        return (
            f"repeats {scan.empty_repeats} times what can be empty, such as _*: at most {MOST_EMPTY_REPEATS}"
            " can be compiled in reasonable time"
        )
    if scan.most_boundaries > MOST_BOUNDARIES_IN_A_ROW:
        return (
            f"has {scan.most_boundaries} boundaries (_) in a row: at most {MOST_BOUNDARIES_IN_A_ROW} can be"
            " compiled in reasonable time, and one means the same"
        )
    if scan.atoms > MOST_ATOMS:
        return (
            f"has {scan.atoms} characters once each + is written out: at most {MOST_ATOMS} can be compiled in"
            " reasonable time, so put fewer + inside each other"
        )
    said = _compiled(text)
    if said is None:
        return None
    at = scan.wrong_at(said)
    return f"FRR cannot compile it: {said}" + (f", at character {at}" if at else "")


def _compiled(text: str) -> str | None:
    """The C library's own words for what is wrong."""
    libc = ctypes.CDLL(None)
    compiled = ctypes.create_string_buffer(_LARGEST_COMPILED_BYTES)
    pattern = text.replace("_", BOUNDARY).encode("ascii")
    code = libc.regcomp(compiled, pattern, _EXTENDED | _ONLY_WHETHER)
    if code == 0:
        libc.regfree(compiled)
        return None
    message = ctypes.create_string_buffer(_LONGEST_MESSAGE_BYTES)
    libc.regerror(code, compiled, message, _LONGEST_MESSAGE_BYTES)
    return message.value.decode("ascii", "replace")


@dataclass
class _Group:
    """An open group, or the whole expression."""

    begun: int
    branch_is_empty: bool = True
    """Whether what was read of this alternative can match an empty text."""
    is_empty: bool = False
    """Whether an earlier alternative can."""
    atoms: int = 0
    """With what each ``+`` inside repeats."""
    boundaries: int = 0
    """Those among the atoms."""
    in_a_row_before: int = 0
    """Boundaries in a row where each alternative begins."""
    in_a_row: int = 0
    """Most of them at the end of an earlier alternative."""


@dataclass
class _Scan:
    """One pass over an expression. Characters count from 1."""

    text: str
    boundary_in_brackets: int = 0
    empty_repeats: int = 0
    most_boundaries: int = 0
    _in_a_row: int = 0
    _nothing_to_repeat: int = 0
    _open_bracket: int = 0
    _odd_range: int = 0
    _groups: list[_Group] = field(default_factory=lambda: [_Group(0)])

    def __post_init__(self) -> None:
        at, atom_is_empty, before = 0, False, True  # of the atom that a repetition would repeat
        has_atom, atoms, boundaries = False, 0, 0
        while at < len(self.text):
            character, group = self.text[at], self._groups[-1]
            at += 1
            if character in _REPEATS:
                if not has_atom and not self._nothing_to_repeat:
                    self._nothing_to_repeat = at
                self.empty_repeats += atom_is_empty
                copies = 3 if atom_is_empty else int(character == "+")
                group.atoms += copies * atoms
                group.boundaries += copies * boundaries
                self._count_boundaries(copies * boundaries)
                atoms, boundaries = (1 + copies) * atoms, (1 + copies) * boundaries
                atom_is_empty = atom_is_empty or character != "+"
                group.branch_is_empty = before and atom_is_empty
                continue
            has_atom, atoms, boundaries = character not in "(|^", 1, int(character == "_")
            self._count_boundaries(boundaries)
            if character == "(":
                self._groups.append(_Group(at, in_a_row_before=self._in_a_row))
                continue
            if character == "|":
                group.is_empty, group.branch_is_empty = group.is_empty or group.branch_is_empty, True
                group.in_a_row = max(group.in_a_row, self._in_a_row)
                self._in_a_row = group.in_a_row_before
                continue
            if character == ")" and len(self._groups) > 1:
                closed = self._groups.pop()
                group, atoms, boundaries = self._groups[-1], closed.atoms, closed.boundaries
                atom_is_empty = closed.is_empty or closed.branch_is_empty
                self._in_a_row = max(self._in_a_row, closed.in_a_row)
            elif character == "[":
                at, atom_is_empty = self._bracket(at), False
            else:
                atom_is_empty = character in "_^$"
            before = group.branch_is_empty
            group.branch_is_empty = before and atom_is_empty
            group.atoms, group.boundaries = group.atoms + atoms, group.boundaries + boundaries
            if len(self._groups) == 1 and not atom_is_empty and self.text[at : at + 1] not in ("*", "?"):
                self._in_a_row = 0

    @property
    def atoms(self) -> int:
        """Those of the whole expression, with what each ``+`` repeats."""
        return sum(group.atoms for group in self._groups)

    def _count_boundaries(self, number: int) -> None:
        self._in_a_row += number
        self.most_boundaries = max(self.most_boundaries, self._in_a_row)

    def wrong_at(self, said: str) -> int:
        """The character that such a message is about; 0 where that is not known."""
        if "Unmatched (" in said and len(self._groups) > 1:
            return self._groups[-1].begun
        if "preceding" in said:
            return self._nothing_to_repeat
        if "range" in said:
            return self._odd_range
        return self._open_bracket

    def _bracket(self, at: int) -> int:
        """Past a bracket expression, whose opening bracket is before ``at``."""
        begun = at
        at += self.text[at : at + 1] == "^"
        first = at
        while at < len(self.text) and (self.text[at] != "]" or at == first):
            if self.text[at] == "_" and not self.boundary_in_brackets:
                self.boundary_in_brackets = at + 1
            if self.text[at] == "[" and self.text[at + 1 : at + 2] == ".":
                end = self.text.find(".]", at + 2)
                at = len(self.text) if end < 0 else end + 2
                continue
            low, high = self.text[at], self.text[at + 2 : at + 3]
            if self.text[at + 1 : at + 2] == "-" and high not in ("", "]"):
                self._odd_range = self._odd_range or (at + 1 if low > high else 0)
                at += 2
            at += 1
        if at >= len(self.text):
            self._open_bracket = self._open_bracket or begun
        return at + 1
