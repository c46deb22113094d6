"""Revisions that were rolled back because nobody confirmed them, told by the revision that replaced them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from webui.changes import services
from webui.changes.results import Revision

_COMMENT = re.compile(r"Roll back to revision (\d+): revision (\d+) was not confirmed in time")
"""As the engine writes it."""
_ROUTER = "millrace"
"""The author of what the router does by itself."""
RESULT = "rolled back, not confirmed"


@dataclass(frozen=True)
class Unconfirmed:
    """Revision `number` was replaced by `by`, which has the document of `back_to`."""

    number: int
    back_to: int
    by: int


def told_by(revision: Revision) -> Unconfirmed | None:
    """What a revision's comment says of another."""
    found = _COMMENT.fullmatch(revision.comment) if revision.author == _ROUTER else None
    return Unconfirmed(int(found[2]), int(found[1]), revision.number) if found else None


def of(number: int) -> Unconfirmed | None:
    """What became of a revision; None where it was confirmed or needed no confirmation."""
    page = services.history(limit=1, search=f"revision {number} was not confirmed in time")
    return next((told for one in page.items if (told := told_by(one)) and told.number == number), None)


def marked(revisions: Iterable[Revision]) -> list[Revision]:
    """The revisions with the result of those that were not confirmed. They follow each other at once."""
    listed = list(revisions)
    gone = {told.number for one in listed if (told := told_by(one))}
    return [replace(one, result=RESULT) if one.number in gone else one for one in listed]
