"""Revisions that the router rolled back automatically, recognized by the revision that replaced them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from webui.changes import services
from webui.changes.results import Revision

_COMMENTS = (
    (
        re.compile(r"Roll back to revision (\d+): revision (\d+) was not confirmed in time"),
        "revision {} was not confirmed in time",
        "Revision {} was not confirmed in time and was rolled back.",
        "rolled back, not confirmed",
    ),
    (
        re.compile(r"Roll back to revision (\d+): sessions or traffic got worse after revision (\d+)"),
        "sessions or traffic got worse after revision {}",
        "Sessions or traffic got worse after revision {}, and it was rolled back automatically.",
        "rolled back, sessions or traffic got worse",
    ),
)
"""The engine's words; the text to search for; the event and the result, in words."""
_AT_ONCE = 100
_ROUTER = "millrace"
"""The author of the router's automatic actions."""
AS_A_WHOLE = "The router went back as a whole, without a plan of steps."


@dataclass(frozen=True)
class Unconfirmed:
    """Revision `number` was replaced by `by`, which has the document of `back_to`."""

    number: int
    back_to: int
    by: int
    sentence: str
    result: str


def told_by(revision: Revision) -> Unconfirmed | None:
    """The statement of a revision's comment about another."""
    if (told := _sentence(revision.author, revision.comment)) is None:
        return None
    found, sentence, result = told
    return Unconfirmed(int(found[2]), int(found[1]), revision.number, sentence.format(found[2]), result)


def _sentence(author: str, comment: str) -> tuple[re.Match[str], str, str] | None:
    for pattern, _, sentence, result in _COMMENTS if author == _ROUTER else ():
        if (found := pattern.fullmatch(comment)) is not None:
            return found, sentence, result
    return None


def of(number: int) -> Unconfirmed | None:
    """What happened to a revision; None where the router did not roll it back automatically."""
    for _, searched, _, _ in _COMMENTS:
        offset = 0
        # The text about revision 12 also contains that about revision 1.
        while (page := services.history(_AT_ONCE, offset, searched.format(number))).items:
            for one in page.items:
                if (told := told_by(one)) and told.number == number:
                    return told
            offset += len(page.items)
    return None


def marked(revisions: Iterable[Revision]) -> list[Revision]:
    """The revisions with the results of the rolled-back ones. They follow each other without a gap."""
    listed = list(revisions)
    gone = {told.number: told.result for one in listed if (told := told_by(one))}
    return [planned(replace(one, result=gone.get(one.number, one.result))) for one in listed]


def planned(revision: Revision) -> Revision:
    """Without steps and impact where the router went back as a whole, without a plan that says them."""
    if revision.steps_count or told_by(revision) is None:
        return revision
    return replace(revision, steps_count=None, impact=None)


def no_steps(author: str, comment: str) -> str:
    """The text for a revision that has no steps."""
    return AS_A_WHOLE if _sentence(author, comment) else "It took no steps."
