"""The end of a revision that was not confirmed in time.

The confirmed document is recorded as the next revision before anything else is done: from then on the same
recovery that follows a crash brings the router there, backend by backend. So neither a backend that is down,
nor one that dies on its present configuration, nor the agent's own death keeps the rest from rolling back,
and the unconfirmed revision is never restored.
"""

from __future__ import annotations

import logging

from appliance.engine.committer import Committer
from appliance.engine.confirmation import Pending
from appliance.engine.recording import Running
from appliance.engine.records import CommitRequest
from appliance.engine.reopening import Reopening
from appliance.state.commit_options import CommitOptions

log = logging.getLogger(__name__)

SELF = "millrace"
"""Author of the revisions the engine makes on its own."""


def roll_back_unconfirmed(committer: Committer) -> None:
    """Make the confirmed document the running one: the caller holds the turn, and the timer has ended.

    The keeper restores the router itself (``restore_due``). If the rollback cannot be recorded, the document
    runs all the same, ``unrecorded`` says why, and the timer stays: call again. Raises what reading the
    revision raises.
    """
    with committer.confirmation.deciding:
        pending = committer.confirmation.pending
        # Confirmed at the last moment.
        if pending is not None:
            _roll_back(committer, pending)


def roll_back_worse(committer: Committer) -> None:
    """The same for a revision that its watch condemned: see Watches.condemn."""
    with committer.confirmation.deciding:
        watch = committer.watches.condemned
        # Rolled back by somebody at the last moment.
        if watch is not None and watch.revision == committer.store.head:
            why = f"sessions or traffic got worse after revision {watch.revision}"
            _go_back(committer, watch.rollback_to, why, f"worse-{watch.revision}")


def _roll_back(committer: Committer, pending: Pending) -> None:
    why = f"revision {pending.revision} was not confirmed in time"
    _go_back(committer, pending.rollback_to, why, f"unconfirmed-{pending.revision}")


def _go_back(committer: Committer, rollback_to: int, why: str, request_id: str) -> None:
    # If the previous one is damaged, the newest whole one before it.
    number, prepared = committer.store.newest_whole(committer.documents.read, rollback_to)
    if not committer.unrecorded and prepared.digest == committer.running.prepared.digest:
        committer.confirmation.clear()
        committer.watches.take(None)
        return
    committer.reserve.make_room()
    due = Reopening(committer.running.prepared.config, committer.running.revision, request_id)
    committer.note_reopening(due, prepared.config)
    comment = f"Roll back to revision {number}: {why}"
    try:
        committer.recorder.record(
            CommitRequest({}, CommitOptions(author=SELF, comment=comment, request_id=request_id)),
            committer.running,
            prepared,
            (),
            must_not_fail=True,
            service=committer.watched.known(committer.running.revision, prepared.digest),
        )
        committer.unrecorded = ""
    except OSError as error:
        committer.unrecorded = (
            f"the rollback to revision {number} runs and cannot be recorded: {error.strerror}"
        )
        log.error("%s", committer.unrecorded)
    else:
        log.warning("%s; it is revision %s now", comment, committer.store.head)
    if committer.reopening is None:
        committer.reopening = due
    committer.running = Running(committer.store.head, prepared)
    # A program that dies on its configuration must find another one at its next start.
    committer.restore_due = committer.untold = True
    committer.watched.begin()
