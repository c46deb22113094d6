"""The commands that turn one object's lines into others. Undo is the same with the sides exchanged."""

from __future__ import annotations

from collections.abc import Iterable

from frr_config.layout import place
from frr_config.line import Daemons, Holders, Line
from frr_config.step import Command
from frr_config.syntax import ObjectKey
from frr_config.tables import setting_of

_NOBODY: Daemons = frozenset()


def transition(key: ObjectKey, before: Holders, after: Holders) -> tuple[Command, ...]:
    """The commands, in order. Both sides hold all lines of one object."""
    gone = _less(before, after)
    new = _less(after, before)
    if key.kind.forget is not None and not after:
        return (_forget(key, before),)
    dragged = key.kind.dragged(before, gone)
    gone |= dragged
    new |= {line: after[line] for line in dragged if line in after}
    explicit = dragged or (key.kind.distinct_values and _moves_values(gone, new))
    removals = list(_removals(gone, {} if explicit else new))
    additions = [_command(line, line.text, new[line]) for line in _ordered(new)]
    if key.kind.additions_first((*gone, *new)):
        return (*additions, *removals)
    return (*removals, *additions)


def _moves_values(gone: Holders, new: Holders) -> bool:
    """FRR ignores or refuses a rule that repeats another rule of the list, even one about to be removed."""
    return not {_value(line) for line in gone}.isdisjoint(_value(line) for line in new)


def _value(line: Line) -> str:
    return line.text.partition(" seq ")[2].partition(" ")[2]


def _less(lines: Holders, others: Holders) -> dict[Line, Daemons]:
    """The lines, each with the daemons in which the other side does not have it."""
    less = {line: daemons - others.get(line, _NOBODY) for line, daemons in lines.items()}
    return {line: daemons for line, daemons in less.items() if daemons}


def _removals(gone: Holders, new: Holders) -> Iterable[Command]:
    replacing: dict[tuple[tuple[str, ...], str], Line] = {}
    for line in new:
        replacing[line.context, setting_of(line).key] = line
    for line in reversed(_ordered(gone)):
        setting = setting_of(line)
        daemons = gone[line]
        if line.context and setting.goes_with_context:
            # Lines below a removed context are removed with it.
            daemons -= gone.get(Line((), line.context[0]), _NOBODY)
        value = replacing.get((line.context, setting.key))
        if value is not None and setting.replaced(line.text, value.text):
            daemons -= new[value]
        if daemons:
            yield _command(line, setting.removal, daemons)


def _forget(key: ObjectKey, before: Holders) -> Command:
    """The daemon forgets the whole object at once."""
    assert key.kind.forget is not None
    daemons = frozenset().union(*before.values())
    return Command(
        tuple(sorted(daemons)), tuple(filter(None, (key.root,))), key.kind.forget.format(name=key.name)
    )


def _ordered(lines: Iterable[Line]) -> list[Line]:
    return sorted(lines, key=place)


def _command(line: Line, text: str, daemons: Daemons) -> Command:
    return Command(tuple(sorted(daemons)), line.context, text)
