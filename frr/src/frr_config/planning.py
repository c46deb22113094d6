"""The plan: which objects change, in which order, with what impact. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from frr_config import impact, ordering, wording
from frr_config.bulk import gathered
from frr_config.config import FrrConfig, Line
from frr_config.objects import ObjectKey, object_of
from frr_config.ownership import Daemons
from frr_config.peers import identities
from frr_config.refresh import refreshes
from frr_config.step import Phase, Step
from frr_config.transition import transition

Holders = Mapping[Line, Daemons]
Objects = dict[ObjectKey, dict[Line, Daemons]]


@dataclass(frozen=True, slots=True)
class _Change:
    """One object's lines on both sides; none on a side where it does not exist."""

    key: ObjectKey
    before: Holders
    after: Holders


def plan(desired: FrrConfig, observed: FrrConfig) -> tuple[Step, ...]:
    """The steps from what is observed to what is desired; none where they are equal."""
    before, after = observed.holders, desired.holders
    changed = {line for line, _ in before.items() ^ after.items()}
    if not changed:
        return ()
    old, new = _by_object(before), _by_object(after)
    changes = list(_changes(changed, old, new, before, after))
    order = ordering.Order(before, after)
    placed = [(order.place(change.key, change.before, change.after), change) for change in changes]
    placed.sort(key=lambda item: item[0])
    steps = [_step(place.phase, change, before, after) for place, change in placed]
    return tuple(gathered([change.key.kind for _, change in placed], steps))


def _by_object(holders: Holders) -> Objects:
    objects: Objects = {}
    for line, daemons in holders.items():
        objects.setdefault(object_of(line), {})[line] = daemons
    return objects


def _changes(
    changed: Iterable[Line], old: Objects, new: Objects, before: Holders, after: Holders
) -> Iterator[_Change]:
    keys = {object_of(line) for line in changed}
    removed_roots = _removed_roots(old, new)
    recreated = _recreated(old, new, before, after)
    for key in keys | recreated:
        if key.root in removed_roots and key != removed_roots[key.root]:
            continue  # goes with the instance it is in
        if key in recreated:
            yield _Change(key, old[key], {})
            yield _Change(key, {}, new[key])
        elif key in removed_roots.values():
            yield _Change(key, {line: held for line, held in before.items() if _is_below(line, key.root)}, {})
        else:
            yield _Change(key, old.get(key, {}), new.get(key, {}))


def _removed_roots(old: Objects, new: Objects) -> dict[str, ObjectKey]:
    """BGP instances that go as a whole, by the line that opens them."""
    return {key.root: key for key in old if key.kind == "bgp" and key.root and key not in new}


def _is_below(line: Line, root: str) -> bool:
    return line.context[:1] == (root,) or (not line.context and line.text == root)


def _recreated(old: Objects, new: Objects, before: Holders, after: Holders) -> set[ObjectKey]:
    """Neighbors and peer groups that bgpd can only change into what is wanted by making them anew."""
    was, becomes = identities(before), identities(after)
    return {
        key for key in was.keys() & becomes.keys() if was[key] != becomes[key] and key in old and key in new
    }


def _step(phase: Phase, change: _Change, before: Holders, after: Holders) -> Step:
    key = change.key
    do = transition(key.kind, change.before, change.after)
    undo = transition(key.kind, change.after, change.before)
    touched = {line for line, _ in change.before.items() ^ change.after.items()}
    again = refreshes(key, touched, before, after)
    if not change.before:
        summary, undo_summary = wording.added(key, change.after), wording.removed(key, change.after)
        effect = impact.NONE
    elif not change.after:
        summary, undo_summary = wording.removed(key, change.before), wording.added(key, change.before)
        effect = impact.impact_of_removal(key, before)
    else:
        summary = wording.changed(key, do, change.after)
        undo_summary = wording.changed(key, undo, change.before)
        effect = impact.impact_of(key, touched, before, after)
    return Step(phase, summary, undo_summary, effect, key.path, (*do, *again), (*undo, *again))
