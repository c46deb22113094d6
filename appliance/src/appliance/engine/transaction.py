"""One transaction: apply a plan, verify it, record it; or put everything back."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from appliance.engine.journal import Journal
from appliance.engine.live import Desired, Live, Observed, Plan, StepFailed
from appliance.engine.records import PlannedStep
from appliance.errors import CommitFailed

log = logging.getLogger(__name__)

_NAMED = 5
"""Steps named in an error text; a count stands for the rest."""


@dataclass(frozen=True)
class Patience:
    """How long to wait, in seconds, for a router that moves on its own."""

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
    patience: Patience
    plan: Plan
    desired: Desired
    before: Observed
    running: Callable[[], Desired]
    """Compiles the last recorded revision; asked only when undoing step by step is not enough."""
    applied: list[PlannedStep] = field(default_factory=list)
    after: Observed = field(default_factory=dict)
    """What was observed last."""

    def run(self, base_revision: int, request_id: str, author: str, record: Callable[[], None]) -> None:
        """Bring the router from ``before`` to ``desired`` and record it, with the journal open meanwhile.

        Raises CommitFailed: the router is as ``before``, or ``undone`` is False and the journal stays open.
        """
        try:
            self.journal.open(base_revision, request_id, author, self.plan)
        except OSError as error:
            raise CommitFailed("write the journal", str(error)) from error
        try:
            self.live.apply(self.plan, self.applied)
            self.after, left = self.live.settle(
                self.desired, self.applied, self.patience.settle_s, self.patience.restart_s
            )
            if left:
                raise NotAsPlanned(f"the router still differs: {named(left)}")
        except StepFailed as failure:
            self._put_back(failure.planned.step.summary, failure.__cause__ or failure)
        except Exception as failure:
            self._put_back("verify", failure)
        try:
            record()
        except OSError as failure:
            self._put_back("record the revision", failure)
        self.journal.close()

    def _put_back(self, step: str, cause: BaseException) -> NoReturn:
        """Undo, check that the router is as before, and raise CommitFailed."""
        for failure in self.live.undo(self.applied):
            log.warning("undo: %s", failure)
        undone = self._as_before() or restore(self.live, self.running, self.patience)
        if undone:
            self.journal.close()
        raise CommitFailed(step, str(cause) or type(cause).__name__, undone) from cause

    def _as_before(self) -> bool:
        """Whether the router is as ``before``: equal, or as far from ``desired`` as it was."""
        deadline = time.monotonic() + self.patience.settle_s
        pause_s = 0.01
        while True:
            try:
                now = self.live.observe()
                if now == self.before or self.live.plan(self.desired, now) == self.plan:
                    return True
            except Exception as error:
                log.warning("undo: the router cannot be observed: %s", error)
                return False
            if time.monotonic() > deadline:
                return False
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, 0.5)


def restore(live: Live, running: Callable[[], Desired], patience: Patience) -> bool:
    """Bring the router to the last recorded revision; whether it is there now. Raises nothing."""
    try:
        desired = running()
        failures = live.converge(desired, live.observe())
        _, left = live.settle(desired, [], patience.settle_s, patience.restart_s)
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
