"""The mirror of the agent's revisions, brought up to date when it is read and after each commit."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db.models import Q

from appliance.config.diff import Change, diff_documents
from appliance.config.secrets_in import mask
from appliance.errors import AgentUnavailable
from appliance.state.configuration import RecordedRevision
from webui.agent import agent
from webui.changes.models import RevisionMirror
from webui.changes.results import Page, Revision

_log = logging.getLogger(__name__)
_BATCH = 200
_MOST = 1000
"""Most of the agent's revisions in one answer."""


def mirror(look: int = 1) -> Sequence[Mapping[str, Any]]:
    """Copy the revisions that the mirror lacks, newest first; running it again changes nothing. Raises
    AgentUnavailable.

    Returns the agent's newest revisions, at most `look`, if the mirror lacked none; otherwise nothing.
    """
    known = RevisionMirror.objects.order_by("-number").values_list("number", "digest").first()
    newest = agent().revisions(limit=look) if known else []
    if [(int(one["revision"]), one["digest"]) for one in newest[:1]] == [known]:
        return newest
    before: int | None = None
    while True:
        batch = agent().revisions(limit=_BATCH if before or not known else 20, before=before)
        if known and any(_replaced(one, known) for one in batch):
            # The agent's history was replaced (a restored or reinstalled router): start over.
            RevisionMirror.objects.all().delete()
            known, before = None, None
            continue
        fresh = [one for one in batch if known is None or int(one["revision"]) > known[0]]
        RevisionMirror.objects.bulk_create([_row(one) for one in fresh], ignore_conflicts=True)
        if not batch or len(fresh) < len(batch) or int(batch[-1]["revision"]) <= 1:
            break
        before = int(batch[-1]["revision"])
    if known and not batch:
        RevisionMirror.objects.all().delete()
    return []


def mirror_made(made: RecordedRevision | None) -> None:
    """Copy the revision that a commit made, from its answer; None means nothing new.

    Where the mirror does not end with the previous revision, it asks the agent for the missing ones.
    """
    if made is None:
        return
    known = RevisionMirror.objects.order_by("-number").values_list("number", "digest").first()
    follows = made.revision == made.base_revision + 1
    if not follows or known != (made.base_revision, made.base_digest):
        mirror_quietly()
        return
    RevisionMirror.objects.bulk_create([_row(made.model_dump())], ignore_conflicts=True)


def mirror_quietly(look: int = 1) -> Sequence[Mapping[str, Any]]:
    """Like `mirror`; an unavailable agent is only logged, as the next read catches up."""
    try:
        return mirror(look)
    except AgentUnavailable as error:
        _log.warning("the history is not mirrored: %s", error)
        return []


def revision_made_by(request_id: str) -> int | None:
    """The revision that a commit made, by its request id; None where no kept revision has it.

    For commits whose result the agent no longer keeps. Raises AgentUnavailable.
    """
    before: int | None = None
    while True:
        batch = agent().revisions(limit=_MOST, before=before)
        made = next((one for one in batch if one.get("request_id") == request_id), None)
        if made is not None:
            return int(made["revision"])
        if len(batch) < _MOST:
            return None
        before = int(batch[-1]["revision"])


def history(limit: int = 50, offset: int = 0, search: str = "") -> Page:
    """Revisions, newest first, whose author or comment contains `search`. Served from the mirror if need
    be.
    """
    # Only the first page, which users look at, asks the agent.
    newest = mirror_quietly(1 if offset or search else max(1, min(limit, _MOST)))
    rows = RevisionMirror.objects.all()
    if search:
        search = search.replace("\x00", "")[:200]
        rows = rows.filter(Q(author__icontains=search) | Q(comment__icontains=search))
    shown = [_revision(row) for row in rows[offset : offset + limit]]
    damaged = _damaged(shown, newest)
    return Page(
        [replace(one, result="damaged") if one.number in damaged else one for one in shown], rows.count()
    )


def _damaged(shown: list[Revision], newest: Sequence[Mapping[str, Any]]) -> set[int]:
    """The revisions that the agent now knows to be damaged; none while it is unavailable.

    Asks only for those that `newest` does not have.
    """
    if not shown:
        return set()
    first, last = shown[-1].number, shown[0].number
    found = newest
    if not newest or int(newest[0]["revision"]) < last or int(newest[-1]["revision"]) > first:
        try:
            found = agent().revisions(limit=min(last - first + 1, _MOST), before=last + 1)
        except AgentUnavailable:
            return set()
    return {int(one["revision"]) for one in found if one.get("result") == "damaged"}


def _replaced(one: dict[str, Any], known: tuple[int, str]) -> bool:
    """Whether a known number now belongs to another revision. The record of a damaged one has no digest."""
    return int(one["revision"]) == known[0] and one["digest"] not in ("", known[1])


def revision(number: int) -> dict[str, Any]:
    """One revision with its document (secrets masked), plan and diff. Raises NotFound."""
    answer = dict(agent().revision(number))
    answer["document"] = mask(answer.get("document", {}))
    return answer


def compare(first: int, second: int) -> list[Change]:
    """The changes from one revision to the other; secrets masked. Raises NotFound."""
    return diff_documents(agent().revision(first)["document"], agent().revision(second)["document"])


def _row(data: dict[str, Any]) -> RevisionMirror:
    return RevisionMirror(
        number=int(data["revision"]),
        digest=data["digest"],
        author=str(data["author"])[:64],
        comment=str(data.get("comment") or "")[:1000],
        time=datetime.fromisoformat(str(data["time"])),
        impact=str(data.get("impact") or ""),
        steps_count=int(data.get("steps_count") or 0),
        result=str(data.get("result") or "done")[:32],
    )


def _revision(row: RevisionMirror) -> Revision:
    return Revision(
        row.number, row.digest, row.author, row.comment, row.time, row.impact, row.steps_count, row.result
    )
