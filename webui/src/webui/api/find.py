"""Rows by their number, or NotFound."""

from __future__ import annotations

from typing import Annotated

from ninja import Path

from appliance.errors import NotFound
from webui.changes.models import ChangeSet

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
"""An id in a path."""


def change_set(number: int) -> ChangeSet:
    """The change set. Raises NotFound."""
    found = ChangeSet.objects.select_related("owner").filter(pk=number).first()
    if found is None:
        raise NotFound(f"There is no change set {number}.")
    return found
