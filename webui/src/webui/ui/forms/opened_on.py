"""The base of a form, with which a save carries only the user's changes."""

from __future__ import annotations

import json
from typing import Any

from django.http import QueryDict

from appliance.config import pointer as pointers
from appliance.config.merge import MergeConflict, merge
from webui.ui.forms.bound import Bound
from webui.ui.forms.field import Kind
from webui.ui.pointers import get

BASE = "@base"
"""Name of the input that carries it."""
NOT_SAID: Any = object()
"""A request without a base, as a script may send: its post is then the whole object."""


def opened_on(data: QueryDict) -> Any:
    """The object on which the posted form was opened; None where there was none."""
    try:
        found = json.loads(str(data[BASE]))
    except (KeyError, ValueError, RecursionError):
        return NOT_SAID
    return found if found is None or isinstance(found, dict) else NOT_SAID


def as_text(base: Any) -> str:
    """The same, for inclusion in the page."""
    return "" if base is NOT_SAID else json.dumps(base, separators=(",", ":"))


def own_part(root: Bound, value: Any) -> Any:
    """The object without the parts that are edited on pages of their own."""
    if not isinstance(value, dict):
        return value
    apart = {child.field.name for child in root.children if child.field.kind is Kind.LINKS}
    return {name: below for name, below in value.items() if name not in apart}


def put_together(
    root: Bound, base: Any, mine: dict[str, Any], now: Any
) -> tuple[dict[str, Any], tuple[MergeConflict, ...]]:
    """`now` with the user's changes since `base`, and the fields that both sides changed."""
    now = now if isinstance(now, dict) else {}
    theirs = own_part(root, now)
    merged = merge(base or {}, own_part(root, mine), theirs)
    kept = {name: below for name, below in now.items() if name not in theirs}
    return {**kept, **merged.document}, merged.conflicts


def with_theirs(base: Any, conflict: MergeConflict) -> Any:
    """The base as if the form had been opened on the other side's value of this one field."""
    if conflict.theirs is not None:
        return pointers.put(base or {}, conflict.path, conflict.theirs)
    return pointers.delete(base, conflict.path) if pointers.exists(base, conflict.path) else base


def told(conflict: MergeConflict, running: Any = NOT_SAID) -> str:
    """All three values in a sentence. Where ``running``, the object that runs, does not have their value, the
    user's own change set has it, as by another tab.
    """
    is_own = running is not NOT_SAID and get(running or {}, conflict.path, None) != conflict.theirs
    who = "your own changes have" if is_own else "somebody else has"
    where = ", as by another tab of yours" if is_own else ""
    return (
        f"{who} set this to {_words(conflict.theirs)}{where}; it was"
        f" {_words(conflict.base)} when you opened the form. Save again to keep yours"
    )


def _words(value: Any) -> str:
    if value is None:
        return "its default"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
