"""The commands that turn one object's lines into others. Undoing is the same with the sides exchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from frr_config.config import Line
from frr_config.layout import place
from frr_config.objects import Kind
from frr_config.ownership import Daemons
from frr_config.settings import setting_of
from frr_config.step import Command

Lines = Mapping[Line, Daemons]
_NOBODY: Daemons = frozenset()
_LISTS: tuple[Kind, ...] = ("prefix_list", "as_path_list", "community_list")


def transition(kind: Kind, before: Lines, after: Lines) -> tuple[Command, ...]:
    """The commands, in order. Both sides hold all lines of one object."""
    gone = _less(before, after)
    new = _less(after, before)
    if kind in ("neighbor", "peer_group") and not after:
        return tuple(_remove_peer(kind, before))
    shared = _sharing_a_regex(before, gone) if kind == "as_path_list" else {}
    gone |= shared
    new |= {line: after[line] for line in shared if line in after}
    explicit = shared or (kind in _LISTS and _moves_values(gone, new))
    removals = list(_removals(gone, {} if explicit else new))
    additions = [_command(line, line.text, new[line]) for line in _ordered(new)]
    if kind == "static" and not any("blackhole" in line.text for line in (*gone, *new)):
        # The new path is there before the old one goes: nothing is without a route meanwhile.
        return (*additions, *removals)
    return (*removals, *additions)


def _moves_values(gone: Lines, new: Lines) -> bool:
    """FRR ignores or refuses a rule that another of the list already says, even one about to go."""
    return not {_value(line) for line in gone}.isdisjoint(_value(line) for line in new)


def _sharing_a_regex(before: Lines, gone: Lines) -> dict[Line, Daemons]:
    """Rules, one of them to go, with one regex: bgpd removes the first of them, whichever it is told to."""
    by_regex: dict[str, list[Line]] = {}
    for line in before:
        by_regex.setdefault(_value(line).partition(" ")[2], []).append(line)
    groups = (lines for lines in by_regex.values() if len(lines) > 1 and not gone.keys().isdisjoint(lines))
    return {line: before[line] for lines in groups for line in lines}


def _value(line: Line) -> str:
    return line.text.partition(" seq ")[2].partition(" ")[2]


def _less(lines: Lines, others: Lines) -> dict[Line, Daemons]:
    """The lines, with the daemons in which the other side does not have them."""
    less = {line: daemons - others.get(line, _NOBODY) for line, daemons in lines.items()}
    return {line: daemons for line, daemons in less.items() if daemons}


def _removals(gone: Lines, new: Lines) -> Iterable[Command]:
    replacing: dict[tuple[tuple[str, ...], str], Line] = {}
    for line in new:
        replacing[line.context, setting_of(line).key] = line
    for line in reversed(_ordered(gone)):
        setting = setting_of(line)
        daemons = gone[line]
        if line.context:
            # What is below a context that goes, goes with it.
            daemons -= gone.get(Line((), line.context[0]), _NOBODY)
        value = replacing.get((line.context, setting.key))
        if value is not None and (setting.replaced or _says_all_of(value.text, line.text)):
            daemons -= new[value]
        if daemons:
            yield _command(line, setting.removal, daemons)


def _says_all_of(value: str, old: str) -> bool:
    """``redistribute static metric 5`` replaces one with another metric, but not one with a route map."""
    if not value.startswith("redistribute "):
        return False
    return set(old.split()[2::2]) <= set(value.split()[2::2])


def _remove_peer(kind: Kind, before: Lines) -> Iterable[Command]:
    """bgpd forgets all about a neighbor or peer group at once."""
    line = next(iter(_ordered(before)))
    name = line.text.removeprefix("no ").split()[1]
    removal = f"no neighbor {name}" if kind == "neighbor" else f"no neighbor {name} peer-group"
    daemons = frozenset().union(*before.values())
    yield Command(tuple(sorted(daemons)), line.context[:1], removal)


def _ordered(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=place)


def _command(line: Line, text: str, daemons: Daemons) -> Command:
    return Command(tuple(sorted(daemons)), line.context, text)
