"""What differs between two documents, object by object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from appliance.config.dump import natural
from appliance.config.marks import Marks
from appliance.config.pointer import escape
from appliance.config.secrets_in import marks_below, masked_at, secret_marks


@dataclass(frozen=True)
class Change:
    """One difference. ``before`` is None for an add and ``after`` for a remove; secrets are masked."""

    op: Literal["add", "remove", "replace"]
    path: str
    before: Any
    after: Any


def diff_documents(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Changes that lead from one canonical form to the other, sorted by path, numbers by value.

    A change is as deep as possible: a new object is one ``add``, a list is replaced as a whole. Takes time
    linear in the documents. A changed secret shows as a ``replace`` of mask by mask.
    """
    changes: list[Change] = []
    _compare(before, after, "", secret_marks(), changes)
    return changes


def _compare(before: Any, after: Any, path: str, secrets: Marks[bool] | None, changes: list[Change]) -> None:
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        if type(before) is not type(after) or before != after:
            changes.append(Change("replace", path, masked_at(before, secrets), masked_at(after, secrets)))
        return
    for key in sorted(_differing(before, after), key=natural):
        place, below = f"{path}/{escape(key)}", marks_below(secrets, key)
        if key not in after:
            changes.append(Change("remove", place, masked_at(before[key], below), None))
        elif key not in before:
            changes.append(Change("add", place, None, masked_at(after[key], below)))
        else:
            _compare(before[key], after[key], place, below, changes)


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Keys under which the two differ; equal subtrees are never entered."""
    keys = [
        key
        for key, value in before.items()
        if key not in after or (after[key] is not value and after[key] != value)
    ]
    return keys + [key for key in after if key not in before]
