"""The mirror of the agent's revisions: brought up to date when read and after each commit."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db.models import Q

from appliance.config.diff import Change, diff_documents
from appliance.config.secrets_in import mask
from appliance.errors import AgentUnavailable
from webui.agent import agent
from webui.changes.models import RevisionMirror
from webui.changes.results import Page, Revision

_log = logging.getLogger(__name__)
_BATCH = 200
_MOST = 1000
"""Of the agent's revisions in one answer."""


def mirror() -> None:
    """Copy what the mirror lacks, newest first; again is no change. Raises AgentUnavailable."""
    known = RevisionMirror.objects.order_by("-number").values_list("number", "digest").first()
    if known and [(int(one["revision"]), one["digest"]) for one in agent().revisions(limit=1)] == [known]:
        return
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


def mirror_quietly() -> None:
    """As `mirror`; an agent that is away just now is told in the log, as the next read catches up."""
    try:
        mirror()
    except AgentUnavailable as error:
        _log.warning("the history is not mirrored: %s", error)


def history(limit: int = 50, offset: int = 0, search: str = "") -> Page:
    """Revisions, newest first, whose author or comment holds `search`. Served from the mirror if need be."""
    mirror_quietly()
    rows = RevisionMirror.objects.all()
    if search:
        search = search.replace("\x00", "")[:200]
        rows = rows.filter(Q(author__icontains=search) | Q(comment__icontains=search))
    shown = [_revision(row) for row in rows[offset : offset + limit]]
    damaged = _damaged(shown)
    return Page(
        [replace(one, result="damaged") if one.number in damaged else one for one in shown], rows.count()
    )


def _damaged(shown: list[Revision]) -> set[int]:
    """Those that the agent knows to be damaged by now; none while it is away."""
    if not shown:
        return set()
    first, last = shown[-1].number, shown[0].number
    try:
        found = agent().revisions(limit=min(last - first + 1, _MOST), before=last + 1)
    except AgentUnavailable:
        return set()
    return {int(one["revision"]) for one in found if one.get("result") == "damaged"}


def _replaced(one: dict[str, Any], known: tuple[int, str]) -> bool:
    """Whether another revision has a number that is known. The record of a damaged one tells no digest."""
    return int(one["revision"]) == known[0] and one["digest"] not in ("", known[1])


def revision(number: int) -> dict[str, Any]:
    """One revision with its document (secrets masked), plan and diff. Raises NotFound."""
    answer = dict(agent().revision(number))
    answer["document"] = mask(answer.get("document", {}))
    return answer


def compare(first: int, second: int) -> list[Change]:
    """What leads from one revision to the other; secrets masked. Raises NotFound."""
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
