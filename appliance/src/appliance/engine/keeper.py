"""The engine's own work: recovery at start, the confirm timer, the watch, drift, and healing."""

from __future__ import annotations

import logging
import threading
import time

from appliance.engine.committer import Committer
from appliance.engine.expiry import SELF, roll_back_unconfirmed, roll_back_worse
from appliance.engine.jobs import Jobs, Recorded, fingerprint
from appliance.engine.live import Overtaken, Plan
from appliance.engine.records import CommitResult
from appliance.engine.transaction import named
from appliance.errors import Conflict, MillraceError

log = logging.getLogger(__name__)

_AT_REST = 9
"""After an observation that finds nothing to do, the pause is this many times as long: a tenth of a CPU."""
_LONGEST_REST_S = 30.0
_EAGER_S = 60.0
"""For this long after a rollback began, or a backend came back, the router is observed as often as needed."""
_EAGER_PAUSE_S = 0.5
_QUICK_S = 1.0
"""During a rollback, a backend that has not answered by then does not hold up the others."""
_MOVING_WAIT_S = 1.0
_URGENT_WAIT_S = 1.0
"""How long a due rollback waits, ahead of all others, for the thread that changes the router; then again."""
_SEARCHED = 100
"""Newest revisions that may belong to a request whose result was not on disk when the agent stopped."""


class Keeper:
    """Keeps the router at the last recorded revision."""

    def __init__(self, committer: Committer, jobs: Jobs, interval_s: float) -> None:
        self._committer, self._jobs, self._interval_s = committer, jobs, interval_s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._told: tuple[str, ...] = ()
        self._rest_s = 0.0
        self._eager_until_s = 0.0

    def start(self) -> None:
        """Settle what was left open, then observe the router at once and regularly."""
        self._settle()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 10) -> None:
        """Stop observing. Work under way is finished first, within the time given."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def recover(self) -> None:
        """Settle what was open when the agent stopped, and bring the router to the last recorded revision.

        Work that has to wait because VPP or FRR is down is left to a later ``tick``.
        """
        self._settle()
        self.tick()

    def _settle(self) -> None:
        """The part that needs only the disk."""
        committer, running = self._committer, self._committer.running.revision
        committer.confirmation.load(committer.store.get(running) if running else None)
        committer.watches.load(committer.store.head)
        committer.check_history()
        newest = committer.store.newest(_SEARCHED)
        recorded = {one.request_id: Recorded(one.revision, committer.store.mark(one)) for one in newest}
        note = committer.journal.read()
        open_marks = {} if note is None else {str(note.get("request_id", "")): str(note.get("mark", ""))}
        reason = f"the agent was stopped during the commit; revision {running} stays"
        self._jobs.settle(recorded, open_marks, reason)
        if note is not None:
            log.warning(
                "a transaction of %s was open at start: restoring revision %s",
                note.get("author", "unknown"),
                running,
            )
            committer.restore_due = True
        committer.reopening = committer.reopenings.load(committer.store, committer.documents)
        # It is done once the router was observed to be where it should be.
        committer.restore_due = committer.restore_due or committer.reopening is not None

    def tick(self) -> None:
        """Observe now: roll back an unconfirmed revision, repair or report drift. Raises nothing."""
        self._rest_s = 0.0
        committer = self._committer
        try:
            urgent = committer.confirmation.expired or committer.watches.condemned is not None
            turn = committer.turn("", "rollback" if urgent else "check", SELF)
            with committer.turns.taking(turn, _URGENT_WAIT_S if urgent else 0, urgent):
                if committer.confirmation.expired:
                    roll_back_unconfirmed(committer)
                    self._eager_until_s = time.monotonic() + _EAGER_S
                elif committer.watches.condemned is not None:
                    roll_back_worse(committer)
                    self._eager_until_s = time.monotonic() + _EAGER_S
                with committer.view.taking(_MOVING_WAIT_S, anyway=committer.restore_due):
                    self._reconcile()
            committer.reserve.keep()
        except (Conflict, Overtaken):
            return
        except Exception as error:
            log.exception("looking at the router failed")
            states = committer.live.look().within(_QUICK_S)
            committer.view.publish(
                (f"the router could not be compared with the last commit: {error}",), states
            )

    def _run(self) -> None:
        self.tick()
        ended_s = time.monotonic()
        while not self._stop.wait(self._pause_s()):
            self._committer.confirmation.note()
            if self._must_look(time.monotonic() - ended_s):
                self.tick()
                ended_s = time.monotonic()

    def _must_look(self, rested_s: float) -> bool:
        """Whether the pause is over, or something happened since the last look that ends it."""
        committer = self._committer
        if committer.confirmation.expired or committer.watches.condemned or committer.view.restarted():
            return True
        if committer.view.back():
            self._eager_until_s = time.monotonic() + _EAGER_S
            return True
        due_s = self._rest_s
        if committer.restore_due:
            due_s = 0.0 if self._eager else self._interval_s
        return rested_s >= due_s

    @property
    def _eager(self) -> bool:
        return self._committer.restore_due and time.monotonic() < self._eager_until_s

    def _pause_s(self) -> float:
        committer = self._committer
        down = any(entry["state"] == "down" for entry in committer.view.seen.health.values())
        pauses_s = [self._interval_s]
        if down or self._eager or committer.unrecorded or committer.watches.armed:
            pauses_s.append(_EAGER_PAUSE_S)
        if (every_s := committer.confirmation.note_every_s) is not None:
            pauses_s.append(every_s)
        if (left_s := committer.confirmation.left_s) is not None and not committer.unrecorded:
            pauses_s.append(max(0.05, left_s))
        return min(pauses_s)

    def _reconcile(self) -> None:
        """Compare, and bring the router back where that is due. Called with both locks held."""
        committer, view = self._committer, self._committer.view
        begun_s = time.monotonic()
        # A history damaged as a whole leaves nothing to restore, and the router may well be right.
        if committer.running.revision == 0 and (committer.store.head > 0 or not committer.restore_due):
            view.publish((), self._look())
            return
        states = self._look()
        try:
            desired = committer.compile_running()
        except MillraceError as error:
            view.publish((f"the running document cannot be compiled: {error}",), states)
            return
        if committer.untold:
            committer.tell_committed(desired)
        plan = committer.live.plan(desired, _answered(states))
        if not plan and len(_answered(states)) == len(states):
            self._rest_s = min((time.monotonic() - begun_s) * _AT_REST, _LONGEST_REST_S)
        failures: list[str] = []
        if plan and self._repair_due(view.returned(states)):
            self._tell("repairing", plan)
            failures = committer.live.converge(desired, _answered(states), committer.proceed)
            states = self._look()
            plan = committer.live.plan(desired, _answered(states))
        if plan:
            self._tell("differs", plan)
        else:
            self._told = ()
            view.as_it_should_be(states)
            if committer.restore_due and len(_answered(states)) == len(states):
                committer.journal.close()
                committer.restore_due = False
                self._reopen()
        self._publish(failures, plan, states)

    def _reopen(self) -> None:
        """The rollback is complete: set up again what only the earlier revision kept closed."""
        due, committer = self._committer.reopening, self._committer
        if due is None:
            return
        reopened = committer.reopen(due)
        if reopened:
            result = CommitResult(due.request_id, "done", committer.running.revision, reopened=reopened)
            try:
                self._jobs.finish(result, fingerprint("reopen", due.request_id))
            except OSError as error:
                log.error("the result of %s cannot be kept: %s", due.request_id, error)

    def _look(self) -> dict[str, object]:
        """State of each backend, or why it is not known."""
        committer = self._committer
        looking = committer.live.look()
        states: dict[str, object] = (
            looking.within(_QUICK_S) if committer.restore_due else looking.each(committer.proceed)
        )
        committer.view.keep(states)
        return states

    def _publish(self, failures: list[str], plan: Plan, states: dict[str, object]) -> None:
        committer = self._committer
        drift = [*failures, *(planned.step.summary for planned in plan)]
        waiting: list[str] = []
        if committer.restore_due:
            silent = [name for name in states if name not in _answered(states)]
            behind = {planned.backend.name for planned in plan}
            waiting = [name for name in states if name in silent or name in behind]
            drift += [
                f"{name} does not answer: it goes to revision {committer.running.revision} when it does"
                for name in silent
            ]
        if committer.unrecorded:
            drift.append(committer.unrecorded)
        committer.view.publish(tuple(drift), states, tuple(waiting))

    def _repair_due(self, returned: set[str]) -> bool:
        """Always after a crash, or once a backend is back; else as the document's policy says."""
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
