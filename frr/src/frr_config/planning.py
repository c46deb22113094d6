"""The plan: which objects change, in which order, with what impact. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from frr_config import ordering, wording
from frr_config.bulk import gathered
from frr_config.config import FrrConfig
from frr_config.line import Daemons, Holders, Line
from frr_config.protocols import PROTOCOLS
from frr_config.step import Phase, Step
from frr_config.syntax import NONE, ObjectKey, Refresh
from frr_config.tables import object_of, resets
from frr_config.transition import transition

Objects = Mapping[ObjectKey, Mapping[Line, Daemons]]


@dataclass(frozen=True, slots=True)
class _Change:
    """One object's lines on both sides; none on a side where it does not exist."""

    key: ObjectKey
    before: Holders
    after: Holders


def plan(desired: FrrConfig, observed: FrrConfig) -> tuple[Step, ...]:
    """The steps from the observed to the desired configuration; none where they are equal."""
    before, after = observed.holders, desired.holders
    changed = {line for line, _ in before.items() ^ after.items()}
    if not changed:
        return ()
    changes = list(_changes(changed, observed, desired))
    order = ordering.Order(before, after)
    placed = [(order.place(change.key, change.before, change.after), change) for change in changes]
    placed.sort(key=lambda item: item[0])
    refreshes = [protocol.refresh(before, after) for protocol in PROTOCOLS]
    steps = [_step(place.phase, change, before, after, refreshes, desired.vrf_of) for place, change in placed]
    return tuple(gathered([change.key for _, change in placed], steps))


def _changes(changed: Iterable[Line], observed: FrrConfig, desired: FrrConfig) -> Iterator[_Change]:
    before, old, new = observed.holders, observed.objects, desired.objects
    keys = {object_of(line) for line in changed}
    removed_roots = _removed_roots(old, new)
    recreated = _recreated(observed, desired)
    for key in keys | recreated:
        removed_with = removed_roots.get(key.root, key)
        if key != removed_with and not key.kind.leaves_first:
            continue  # removed together with its instance
        if key in recreated:
            yield _Change(key, old[key], {})
            yield _Change(key, {}, new[key])
        elif key in removed_roots.values():
            yield _Change(
                key, {line: held for line, held in before.items() if _goes_with(line, key.root)}, {}
            )
        else:
            yield _Change(key, old.get(key, {}), new.get(key, {}))


def _removed_roots(old: Objects, new: Objects) -> dict[str, ObjectKey]:
    """Instances that are removed as a whole, by the line that opens them."""
    return {key.root: key for key in old if key.kind.owns_root and key not in new}


def _goes_with(line: Line, root: str) -> bool:
    if line.context[:1] == (root,):
        return not object_of(line).kind.leaves_first
    return not line.context and line.text == root


def _recreated(observed: FrrConfig, desired: FrrConfig) -> set[ObjectKey]:
    """Objects that FRR can bring to the desired state only by removing and creating them again."""
    recreated: set[ObjectKey] = set()
    for was, becomes in zip(observed.identities, desired.identities, strict=True):
        recreated |= {
            key
            for key in was.keys() & becomes.keys()
            if was[key] != becomes[key] and key in observed.objects and key in desired.objects
        }
    return recreated


def _path(key: ObjectKey, vrf_of: Mapping[str, str]) -> str:
    """Taken from the document; the lines of an interface do not contain its VRF."""
    interface = key.root.removeprefix("interface ")
    return key.path_in(key.vrf if interface == key.root else vrf_of.get(interface, ""))


def _step(
    phase: Phase,
    change: _Change,
    before: Holders,
    after: Holders,
    refreshes: Iterable[Refresh],
    vrf_of: Mapping[str, str],
) -> Step:
    key = change.key
    do = transition(key, change.before, change.after)
    undo = transition(key, change.after, change.before)
    touched = {line for line, _ in change.before.items() ^ change.after.items()}
    again = tuple(command for refresh in refreshes for command in refresh(key, touched))
    if not change.before:
        summary, undo_summary = wording.added(key, change.after), wording.removed(key, change.after)
        effect = NONE
    elif not change.after:
        summary, undo_summary = wording.removed(key, change.before), wording.added(key, change.before)
        effect = key.kind.removal_resets(key, before)
    else:
        summary = wording.changed(key, do, change.after)
        undo_summary = wording.changed(key, undo, change.before)
        reset = any(resets(line, removed=line not in change.after) for line in touched)
        effect = (
            key.kind.resets(key, before, after) if reset else key.kind.loses(key, change.before, change.after)
        )
    return Step(phase, summary, undo_summary, effect, _path(key, vrf_of), (*do, *again), (*undo, *again))
