"""Three-way merge of documents, path by path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from appliance.config.dump import natural
from appliance.config.pointer import escape
from appliance.config.secrets_in import mask

Side = Literal["ours", "theirs"]


class _Absent:
    def __repr__(self) -> str:
        return "absent"


_ABSENT: Any = _Absent()


@dataclass(frozen=True)
class MergeConflict:
    """Both sides changed the same place, differently. None stands for absent; secrets are masked."""

    path: str
    base: Any
    ours: Any
    theirs: Any


@dataclass(frozen=True)
class Merged:
    """Result of a merge: ``document`` is whole only when there are no conflicts, which keep our side."""

    document: dict[str, Any]
    conflicts: tuple[MergeConflict, ...]


def merge(base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Merged:
    """Combine the changes base → ours and base → theirs, on canonical forms.

    Objects merge by key; a list or a value that both changed differently is a conflict, and so is an object
    removed on one side and changed on the other. The result still has to be validated: two changes that are
    each valid can contradict each other.
    """
    conflicts: list[MergeConflict] = []
    document = _merge(dict(base), dict(ours), dict(theirs), "", conflicts)
    return Merged(document, tuple(conflicts))


def take_up(
    before: Mapping[str, Any], after: Mapping[str, Any], onto: Mapping[str, Any], keep: Side | None
) -> Merged:
    """``onto`` with what leads from ``before`` to ``after``, such as the changes of one revision.

    ``keep`` says which side wins where ``onto`` differs from ``before`` too: "ours" is ``onto``, "theirs" is
    ``after``. Without it such places are conflicts, in which ours is ``onto``.
    """
    if keep == "theirs":
        return Merged(merge(before, after, onto).document, ())
    merged = merge(before, onto, after)
    return merged if keep is None else Merged(merged.document, ())


def _merge(base: Any, ours: Any, theirs: Any, path: str, conflicts: list[MergeConflict]) -> Any:
    if _same(ours, theirs) or _same(theirs, base):
        return ours
    if _same(ours, base):
        return theirs
    sides = (ours, theirs) if base is _ABSENT else (base, ours, theirs)
    if not all(isinstance(side, Mapping) for side in sides) or _kind_changed(base, ours, theirs):
        conflicts.append(
            MergeConflict(
                path, *(None if side is _ABSENT else mask(side, path) for side in (base, ours, theirs))
            )
        )
        return ours
    known: Mapping[str, Any] = {} if base is _ABSENT else base
    result = {}
    for key in sorted(known.keys() | ours.keys() | theirs.keys(), key=natural):
        merged = _merge(
            known.get(key, _ABSENT),
            ours.get(key, _ABSENT),
            theirs.get(key, _ABSENT),
            f"{path}/{escape(key)}",
            conflicts,
        )
        if merged is not _ABSENT:
            result[key] = merged
    return result


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _kind_changed(base: Any, ours: Any, theirs: Any) -> bool:
    """Whether one side made it another kind of object: its fields do not mix with the other side's."""
    kinds = [side.get("type") for side in (base, ours, theirs) if isinstance(side, Mapping)]
    return any(kind != kinds[0] for kind in kinds)
