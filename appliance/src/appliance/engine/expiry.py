"""What becomes of a revision that was not confirmed in time.

The confirmed document is recorded as the next revision before anything else is done: from then on the router
is brought there by what also brings it back after a crash, backend by backend. So neither a backend that is
down, nor one that dies on the configuration it has, nor the agent's own death keeps the rest from going back,
and the revision that nobody confirmed is never put back.
"""

from __future__ import annotations

import logging

from appliance.engine.committer import Committer, Reopening, Running
from appliance.engine.confirmation import Pending
from appliance.engine.records import CommitRequest

log = logging.getLogger(__name__)

SELF = "millrace"
"""Author of the revisions the engine makes on its own."""


def roll_back_unconfirmed(committer: Committer) -> None:
    """Make the confirmed document the running one, with the writer's lock held and the timer run out.

    The router itself is left to the keeper (``restore_due``). When it cannot be recorded the document runs
    all the same, ``unrecorded`` says why, and the timer stays: call again. Raises what reading the revision
    raises.
    """
    with committer.confirmation.deciding:
        pending = committer.confirmation.pending
        # Confirmed at the last moment.
        if pending is not None:
            _roll_back(committer, pending)


def _roll_back(committer: Committer, pending: Pending) -> None:
    # Where the confirmed one is damaged, the newest whole one before it.
    number, prepared = committer.store.newest_whole(committer.documents.read, pending.rollback_to)
    if not committer.unrecorded and prepared.digest == committer.running.prepared.digest:
        committer.confirmation.clear()
        return
    committer.reserve.make_room()
    comment = f"Roll back to revision {number}: revision {pending.revision} was not confirmed in time"
    try:
        committer.record(
            CommitRequest({}, SELF, comment),
            f"unconfirmed-{pending.revision}",
            prepared,
            (),
            must_not_fail=True,
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
        committer.reopening = Reopening(committer.running.prepared.config, f"unconfirmed-{pending.revision}")
    committer.running = Running(committer.store.head, prepared)
    # A program that dies on its configuration must also find another one when it starts the next time.
    committer.restore_due = committer.untold = True
