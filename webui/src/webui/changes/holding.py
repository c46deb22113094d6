"""A change set during its commit: it cannot be edited until the commit's outcome is known."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from appliance.errors import AgentUnavailable, Conflict, NotFound
from appliance.state.commits import CommitOutcome
from webui.accounts.models import User
from webui.changes.closing import close
from webui.changes.commits import outcome
from webui.changes.history import revision_made_by
from webui.changes.models import ChangeSet
from webui.changes.models.change_set import ChangeState

_ON_ITS_WAY = timedelta(seconds=90)
"""After this long, a commit that the agent does not know is not on its way: a request may take 60 seconds."""


def lock(change: ChangeSet) -> ChangeSet:
    """The row, without its documents, locked until the transaction ends. Raises Conflict if it has
    changed.
    """
    rows = ChangeSet.objects.select_for_update().defer("base_document", "document", "changes")
    locked = rows.get(pk=change.pk)
    is_held = locked.commit_request not in ("", change.commit_request)
    if locked.version != change.version or not locked.is_open or is_held:
        raise Conflict("The change set was changed in the meantime; look at it again.")
    return locked


def hold(change: ChangeSet, request_id: str) -> None:
    """Record the commit that the change set waits for; empty for none.

    Raises Conflict if it was edited in between, or another request commits it.
    """
    if change.commit_request == request_id:
        return
    with transaction.atomic():
        lock(change)
        change.commit_request = request_id
        change.save(update_fields=["commit_request", "updated_at"])


def unanswered(change: ChangeSet, error: AgentUnavailable) -> CommitOutcome:
    """The outcome of its commit, whose answer was lost.

    Raises `error` where the commit was not made, and where that is unknown.
    """
    try:
        result = outcome(change.commit_request)
    except AgentUnavailable:
        raise error from None
    except NotFound:
        result = None
    if result is None or result.state == "failed":
        hold(change, "")
        raise error
    return result


def refresh(change: ChangeSet) -> ChangeSet:
    """Learn the outcome of a commit that outlasted its request. A failed one leaves the change set open."""
    if change.is_open and change.commit_request:
        state, made = _end_of(change)
        if state == "done":
            close(change, ChangeState.COMMITTED, made)
        elif state == "failed":
            hold(change, "")
    return change


def _end_of(change: ChangeSet) -> tuple[str, int | None]:
    """The state of its commit, and the revision that it made.

    The agent keeps results for a while; after that, the commit's revision is looked up instead.
    """
    try:
        result = outcome(change.commit_request)
    except NotFound:
        if timezone.now() - change.updated_at < _ON_ITS_WAY:
            return "running", None
        made = revision_made_by(change.commit_request)
        return ("failed" if made is None else "done"), made
    return result.state, result.revision


def note_end(user: User, request_id: str) -> None:
    """A commit that outlasted its request may be over: refresh the user's change set that it belongs to."""
    for change in ChangeSet.objects.filter(owner=user, commit_request=request_id)[:1]:
        refresh(change)
