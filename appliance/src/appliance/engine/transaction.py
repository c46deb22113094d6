"""One transaction: apply a plan, verify it, record it; or restore the router as it was."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor, wait
from dataclasses import dataclass, field
from typing import NoReturn

from appliance.engine.journal import Journal
from appliance.engine.live import Desired, Live, Observed, Overtaken, Plan, Proceed, StepFailed, unhindered
from appliance.engine.records import CommitRequest, PlannedStep
from appliance.engine.reserve import Reserve, is_full
from appliance.engine.turns import Cancelled, Turn
from appliance.errors import CommitCancelled, CommitFailed

log = logging.getLogger(__name__)

_NAMED = 5
"""Steps named in an error text; a count stands for the rest."""


@dataclass(frozen=True)
class Patience:
    """How long, in seconds, to wait for a router that changes on its own."""

    settle_s: float = 5.0
    restart_s: float = 60.0
    """For a program that the plan restarts."""


class NotAsPlanned(Exception):
    """All steps were applied, and the router still differs from the document."""


@dataclass
class Transaction:
    """One plan on its way into the live router."""

    live: Live
    journal: Journal
    disk: Executor
    """Threads that wait for the disk."""
    reserve: Reserve
    patience: Patience
    plan: Plan
    desired: Desired
    before: Observed
    running: Callable[[], Desired]
    """Compiles the last recorded revision; asked only when undoing step by step is not enough."""
    turn: Turn
    """Receives the progress; says between steps whether somebody cancelled it."""
    proceed: Proceed = unhindered
    """Raises Overtaken when the router has to go to another state: then nothing is undone."""
    must_not_fail: bool = False
    """Set for a rollback: the agent's reserve may be spent."""
    applied: list[PlannedStep] = field(default_factory=list)
    after: Observed = field(default_factory=dict)
    """The last observation."""

    def run(
        self,
        base_revision: int,
        request: CommitRequest,
        meanwhile: Callable[[], None],
        record: Callable[[], None],
    ) -> None:
        """Bring the router from ``before`` to ``desired`` and record it, with the journal open meanwhile.

        ``meanwhile`` is called while the journal is written; it changes nothing. Raises CommitFailed (of
        which CommitCancelled is a kind): the router is as ``before``, or ``undone`` is False and the journal
        stays open. Raises StorageFull or RouterUnavailable when the journal cannot be written; then nothing
        is changed.
        """
        opening = self.disk.submit(self._open_journal, base_revision, request)
        try:
            meanwhile()
        except BaseException:
            wait([opening])
            self._close_journal()
            raise
        try:
            opening.result()
        except OSError as error:
            raise self.reserve.refusal(error) from error
        try:
            self.live.apply(self.plan, self.applied, self._next_step, self.turn.check)
            self.turn.verify()
            self.after, left = self.live.settle(
                self.desired, self.applied, self.patience.settle_s, self.patience.restart_s, self._go_on
            )
            if left:
                raise NotAsPlanned(f"the router still differs: {named(left)}")
            self.turn.record()
        except Overtaken as overtaken:
            raise CommitFailed("verify", str(overtaken), undone=False) from overtaken
        except StepFailed as failure:
            self._put_back(failure.planned.step.summary, failure.__cause__ or failure)
        except Exception as failure:
            self._put_back("verify", failure)
        try:
            record()
        except OSError as failure:
            self._put_back("record the revision", failure)
        self._close_journal()

    def _go_on(self) -> None:
        self.proceed()
        self.turn.check()

    def _next_step(self) -> None:
        self._go_on()
        made = len(self.applied)
        self.turn.apply(made + 1, len(self.plan), self.plan[made].step.summary)

    def _open_journal(self, base_revision: int, request: CommitRequest) -> None:
        options = request.options

        def write(steps: Plan = self.plan) -> None:
            self.journal.open(base_revision, options.request_id, options.author, steps, request.mark)

        if not self.must_not_fail:
            write()
            return
        try:
            self.reserve.spend(write)
        except OSError as error:
            if not is_full(error):
                raise
            # The steps are for a human reader; only the journal's existence counts.
            write(())

    def _close_journal(self) -> None:
        """A journal that stays open is only logged: the next start restores the running revision anyway."""
        try:
            self.journal.close()
        except OSError as error:
            log.error("the journal cannot be closed: %s", error)

    def _put_back(self, step: str, cause: BaseException) -> NoReturn:
        """Undo, check that the router is as before, and raise CommitFailed."""
        self.turn.undo()
        # Undoing writes files too.
        if is_full(cause) or is_full(cause.__cause__):
            self.reserve.release()
        else:
            self.reserve.make_room()
        for failure in self.live.undo(self.applied):
            log.warning("undo: %s", failure)
        try:
            undone = self._as_before() or restore(self.live, self.running, self.patience, self.proceed)
        except Overtaken as overtaken:
            log.warning("the undo ends here: %s", overtaken)
            undone = False
        if undone:
            self._close_journal()
        if isinstance(cause, Cancelled):
            ended = "undone" if undone else "and the undo is not complete: see drift"
            raise CommitCancelled(f"{cause}, {ended}", undone) from cause
        raise CommitFailed(step, str(cause) or type(cause).__name__, undone) from cause

    def _as_before(self) -> bool:
        """Whether the router is as ``before``: equal, or as far from ``desired`` as it was."""
        deadline = time.monotonic() + self.patience.settle_s
        pause_s = 0.01
        while True:
            try:
                now = self.live.observe(self.proceed)
                if now == self.before or self.live.plan(self.desired, now) == self.plan:
                    return True
            except Overtaken:
                raise
            except Exception as error:
                log.warning("undo: the router cannot be observed: %s", error)
                return False
            if time.monotonic() > deadline:
                return False
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, 0.5)


def restore(
    live: Live, running: Callable[[], Desired], patience: Patience, proceed: Proceed = unhindered
) -> bool:
    """Bring the router to the last recorded revision; whether it is there now. Raises only Overtaken."""
    try:
        desired = running()
        failures = live.converge(desired, live.observe(proceed), proceed)
        _, left = live.settle(desired, [], patience.settle_s, patience.restart_s, proceed)
    except Overtaken:
        raise
    except Exception as error:
        log.warning("the last revision cannot be restored now: %s", error)
        return False
    for failure in failures:
        log.warning("restore: %s", failure)
    if left:
        log.warning("restore: the router still differs: %s", named(left))
    return not left


def named(plan: Plan) -> str:
    """The first steps of a plan in one line."""
    summaries = [planned.step.summary for planned in plan[:_NAMED]]
    more = len(plan) - len(summaries)
    return "; ".join(summaries) + (f"; and {more} more" if more > 0 else "")
