"""A list of changed paths for long-term storage: complete while it is small, cut beyond that."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from appliance.config.diff import Change

MAX_CHANGES = 1000
"""The most changed paths to list; a larger change is summarized by its number."""
MAX_VALUE_CHARACTERS = 16_384
"""Limit of the JSON text of one value before or after a change."""
MAX_CHARACTERS = 262_144
"""Limit of the JSON text of all values of one list."""


def bounded(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """``{"op", "path", "before", "after"}`` for each change, the first MAX_CHANGES of them."""
    room = MAX_CHARACTERS
    listed = []
    for change in changes[:MAX_CHANGES]:
        entry: dict[str, Any] = {"op": change.op, "path": change.path}
        for name, value in (("before", change.before), ("after", change.after)):
            size = len(json.dumps(value))
            # A number, a name, a prefix: no longer than a note that the value is left out.
            if size > 64 and (size > MAX_VALUE_CHARACTERS or size > room):
                entry[name] = f"({size} characters of JSON; see the revision)"
            else:
                entry[name] = value
                room -= size
        listed.append(entry)
    return listed
