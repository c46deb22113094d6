"""What the engine does on its own: recovery at start, the confirm timer, drift, and healing."""

from __future__ import annotations

import logging
import threading
import time

from appliance.engine.committer import Committer
from appliance.engine.jobs import Jobs
from appliance.engine.live import Plan
from appliance.engine.records import CommitRequest
from appliance.engine.transaction import named
from appliance.errors import Conflict, MillraceError

log = logging.getLogger(__name__)

SELF = "millrace"
"""Author of the revisions the engine makes on its own."""
_AT_REST = 9
"""A look that finds nothing to do is followed by so many times its duration without one: a tenth of a CPU."""
_LONGEST_REST_S = 30.0
_SEARCHED = 20
"""Newest revisions that may belong to a request that was running when the agent stopped."""


class Keeper:
    """Keeps the router at the last recorded revision."""

    def __init__(self, committer: Committer, jobs: Jobs, interval_s: float) -> None:
        self._committer, self._jobs, self._interval_s = committer, jobs, interval_s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._told: tuple[str, ...] = ()
        self._rest_s = 0.0

    def start(self) -> None:
        """Settle what was left open, then look at the router at once, and again and again."""
        self._settle()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 10) -> None:
        """Stop looking. What is under way is finished first, within the time given."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def recover(self) -> None:
        """Settle what was open when the agent stopped, and bring the router to the last recorded revision.

        What cannot be done now, because VPP or FRR is not there, is done by a later ``tick``.
        """
        self._settle()
        self.tick()

    def _settle(self) -> None:
        """What needs only the disk."""
        committer, running = self._committer, self._committer.running.revision
        committer.confirmation.load(running, committer.store.get(running) if running else None)
        committer.check_history()
        recorded = {entry.request_id: entry.revision for entry in committer.store.newest(_SEARCHED)}
        self._jobs.settle(recorded, f"the agent was stopped during the commit; revision {running} stays")
        if (note := committer.journal.read()) is not None:
            log.warning(
                "a transaction of %s was open at start: restoring revision %s", note.get("author"), running
            )
            committer.restore_due = True

    def tick(self) -> None:
        """Look now: roll back what was not confirmed, repair or report drift. Raises nothing."""
        self._rest_s = 0.0
        try:
            with self._committer.writing(wait_s=0):
                if self._committer.confirmation.expired:
                    self._roll_back_unconfirmed()
                with self._committer.view.moving:
                    self._reconcile()
        except Conflict:
            return
        except Exception as error:
            log.exception("looking at the router failed")
            view = self._committer.view
            view.publish((f"the router could not be compared with the last commit: {error}",), view.look())

    def _run(self) -> None:
        self.tick()
        ended_s = time.monotonic()
        while not self._stop.wait(self._pause_s()):
            if self._must_look() or time.monotonic() - ended_s >= self._rest_s:
                self.tick()
                ended_s = time.monotonic()

    def _must_look(self) -> bool:
        """Whether something happened since the last look that ends the rest after it."""
        committer = self._committer
        return committer.confirmation.expired or committer.restore_due or committer.view.restarted()

    def _pause_s(self) -> float:
        pending = self._committer.confirmation.pending
        if pending is None:
            return self._interval_s
        return min(self._interval_s, max(0.05, pending.expires_at_s - self._committer.clock()))

    def _roll_back_unconfirmed(self) -> None:
        committer, pending = self._committer, self._committer.confirmation.pending
        assert pending is not None
        comment = f"Revision {pending.revision} was not confirmed within {pending.confirm_s:g} s"
        log.warning("%s: rolling back to revision %s", comment, pending.rollback_to)
        # Where the one it goes back to is damaged, the newest whole one before it.
        _, document = committer.store.newest_whole(lambda sealed, _: sealed, pending.rollback_to)
        request = CommitRequest(document, SELF, comment)
        try:
            committer.transact(request, f"unconfirmed-{pending.revision}", supersede=True)
        except MillraceError as error:
            log.error("rolling back revision %s failed and is tried again: %s", pending.revision, error)

    def _reconcile(self) -> None:
        """Compare the router with the last commit, and repair where that is due."""
        committer, view = self._committer, self._committer.view
        begun_s = time.monotonic()
        states = view.look()
        # Of history that is damaged as a whole nothing is left to restore, and the router may well be right.
        if committer.running.revision == 0 and (committer.store.head > 0 or not committer.restore_due):
            view.publish((), states)
            return
        try:
            desired = committer.compile_running()
        except MillraceError as error:
            view.publish((f"the running document cannot be compiled: {error}",), states)
            return
        plan = committer.live.plan(desired, _answered(states))
        if not plan and len(_answered(states)) == len(states):
            self._rest_s = min((time.monotonic() - begun_s) * _AT_REST, _LONGEST_REST_S)
        failures: list[str] = []
        if plan and self._repair_due(view.returned(states)):
            self._tell("repairing", plan)
            failures = committer.live.converge(desired, _answered(states))
            states = view.look()
            plan = committer.live.plan(desired, _answered(states))
        if plan:
            self._tell("differs", plan)
        else:
            self._told = ()
            view.as_it_should_be(states)
            if committer.restore_due and len(_answered(states)) == len(states):
                committer.journal.close()
                committer.restore_due = False
        view.publish((*failures, *(planned.step.summary for planned in plan)), states)

    def _repair_due(self, returned: set[str]) -> bool:
        """After a crash, or once what was down is back, always; else as the document's policy says."""
        committer = self._committer
        policy = committer.running.prepared.config.system.drift_policy
        return committer.restore_due or bool(returned) or policy == "repair"

    def _tell(self, what: str, plan: Plan) -> None:
        """Log drift when it is new, not every few seconds."""
        told = (what, *(planned.step.summary for planned in plan))
        if told != self._told:
            log.warning(
                "the router is not at revision %s, %s: %s",
                self._committer.running.revision,
                what,
                named(plan),
            )
        self._told = told


def _answered(states: dict[str, object]) -> dict[str, object]:
    return {name: state for name, state in states.items() if not isinstance(state, Exception)}
