"""The turn to change the router: one commit at a time, in the order of arrival.

The state that readers see is kept under locks held only as long as it takes to copy a few fields.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from appliance.engine.clock import Clock
from appliance.engine.records import timestamp
from appliance.errors import Conflict, NotFound
from appliance.state.commits import CommitsUnderWay, CommitUnderWay, Stage, joined

MOST_WAITING = 16
"""This many may wait; the next is refused at once."""
LONGEST_WAIT_S = 900.0
"""A commit that has waited this long is refused."""
Kind = Literal["commit", "rollback", "check", "bench"]


class Cancelled(Exception):
    """Somebody cancelled the commit; raised at a point where it can stop."""

    def __init__(self, by: str) -> None:
        self.by = by
        super().__init__(f"cancelled by {by}")


class Turn:
    """One commit, rollback or bench, from its request to its end. Its own thread advances it, others read it.

    One without a request id (the router's own, or a bench) cannot be cancelled here.
    """

    def __init__(self, request_id: str, kind: Kind, author: str, comment: str, clock: Clock) -> None:
        self.request_id, self.kind, self.author, self.comment = request_id, kind, author, comment
        self._clock = clock
        self._asked_s = clock.unix_s()
        self._begun_s: float | None = None
        self._guard = threading.Lock()
        self._stage: Stage = "queued"
        self._step = self._steps = 0
        self._doing = ""
        self._cancelled_by = ""
        self.is_dismissed = False
        """The agent stops."""

    @property
    def title(self) -> str:
        """The form in which others see it."""
        return "the router's own check" if self.kind == "check" else f"the {self.kind} of {self.author}"

    # For the thread that holds the turn.

    def check(self) -> None:
        """Raises Cancelled once somebody cancelled it."""
        if self._cancelled_by:
            raise Cancelled(self._cancelled_by)

    def begin(self) -> None:
        """Its turn has come."""
        with self._guard:
            self._begun_s, self._stage = self._clock.unix_s(), "planning"

    def apply(self, step: int, steps: int, doing: str) -> None:
        """Step number ``step`` of ``steps``, counted from 1, is applied now."""
        with self._guard:
            self._stage, self._step, self._steps, self._doing = "applying", step, steps, doing

    def verify(self) -> None:
        """All steps are applied."""
        with self._guard:
            self._stage = "verifying"

    def record(self) -> None:
        """From now on it cannot be cancelled. Raises Cancelled if it was cancelled before."""
        with self._guard:
            self.check()
            self._stage = "recording"

    def undo(self) -> None:
        """The applied steps are undone."""
        with self._guard:
            self._stage = "undoing"

    # For others.

    def cancel(self, by: str) -> None:
        """Cancel it at the next point where it can stop. Raises Conflict when that is no longer possible."""
        with self._guard:
            if self._cancelled_by:
                return
            if self._stage == "recording":
                raise Conflict(
                    f"{self.title} is being recorded and can no longer be cancelled: roll it back instead"
                )
            if self._stage == "undoing":
                raise Conflict(f"a step of {self.title} failed, and it is being undone already")
            self._cancelled_by = by

    def shown(self, position: int, ahead: tuple[str, ...]) -> CommitUnderWay:
        """As it stands."""
        with self._guard:
            return CommitUnderWay(
                id=self.request_id,
                kind="rollback" if self.kind == "rollback" else "commit",
                author=self.author,
                comment=self.comment,
                asked_at=timestamp(self._asked_s),
                begun_at=None if self._begun_s is None else timestamp(self._begun_s),
                state=self._stage,
                position=position,
                ahead=ahead,
                step=self._step,
                steps=self._steps,
                doing=self._doing,
                cancelled_by=self._cancelled_by,
                can_cancel=bool(self.request_id)
                and not self._cancelled_by
                and self._stage not in ("recording", "undoing"),
            )


class Turns:
    """The one that holds the turn, and those that wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holder: Turn | None = None
        self._waiting: list[Turn] = []

    @contextmanager
    def taking(self, turn: Turn, wait_s: float = LONGEST_WAIT_S, urgent: bool = False) -> Iterator[None]:
        """Wait for the turn and hold it. ``urgent``: ahead of all that wait.

        Raises Conflict at once if too many wait, or after ``wait_s``; Cancelled when it was cancelled.
        """
        self._wait(turn, wait_s, urgent)
        try:
            yield
        finally:
            with self._changed:
                self._holder = None
                self._changed.notify_all()

    def _wait(self, turn: Turn, wait_s: float, urgent: bool) -> None:
        ends_s = time.monotonic() + wait_s
        with self._changed:
            if not urgent and len(self._waiting) >= MOST_WAITING:
                raise Conflict(
                    f"{self._busy()}, and {len(self._waiting)} commits wait for their turn, which is as many "
                    "as may: try again when some are done"
                )
            self._waiting.insert(0 if urgent else len(self._waiting), turn)
            try:
                while self._holder is not None or self._waiting[0] is not turn:
                    turn.check()
                    if turn.is_dismissed:
                        raise Conflict("the agent is stopping: nothing of this was done")
                    left_s = ends_s - time.monotonic()
                    if left_s <= 0:
                        raise Conflict(self._late(turn, wait_s))
                    self._changed.wait(left_s)
                turn.check()
                self._holder = turn
                turn.begin()
            finally:
                self._waiting.remove(turn)
                self._changed.notify_all()

    def _late(self, turn: Turn, wait_s: float) -> str:
        ahead = self._ahead(turn)
        waited = f" after {wait_s:.0f} s" if wait_s >= 1 else ""
        return f"another commit is under way: this one got no turn{waited}, behind {joined(ahead)}"

    def _busy(self) -> str:
        return "the router is busy" if self._holder is None else f"{self._holder.title} is under way"

    def _ahead(self, turn: Turn) -> tuple[str, ...]:
        before = self._waiting[: self._waiting.index(turn)] if turn in self._waiting else []
        return tuple(one.title for one in (self._holder, *before) if one is not None and one is not turn)

    def under_way(self) -> CommitsUnderWay:
        """All of them. Does not wait for a commit."""
        with self._changed:
            holder, waiting = self._holder, list(self._waiting)
            ahead = [self._ahead(turn) for turn in waiting]
        is_commit = holder is not None and holder.kind in ("commit", "rollback")
        return CommitsUnderWay(
            running=holder.shown(0, ()) if holder is not None and is_commit else None,
            queued=tuple(
                turn.shown(number, before)
                for number, (turn, before) in enumerate(zip(waiting, ahead, strict=True), start=1)
            ),
            most_queued=MOST_WAITING,
        )

    def find(self, request_id: str) -> CommitUnderWay | None:
        """One of them as it stands; None when it neither runs nor waits."""
        known = self.under_way()
        everyone = (known.running, *known.queued)
        return next((one for one in everyone if one is not None and one.id == request_id), None)

    def dismiss(self) -> None:
        """Refuse all that wait, since the agent stops. The one that runs is completed."""
        with self._changed:
            for turn in self._waiting:
                turn.is_dismissed = True
            self._changed.notify_all()

    def cancel(self, request_id: str, by: str) -> CommitUnderWay:
        """Cancel one: a waiting one at once, the running one before its next step, undoing it.

        Raises NotFound when it neither runs nor waits, Conflict when it can no longer be cancelled.
        """
        with self._changed:
            everyone = [one for one in (self._holder, *self._waiting) if one is not None]
            turn = next((one for one in everyone if one.request_id == request_id), None)
            if turn is None:
                raise NotFound(f"no commit with request id {request_id} is under way")
            position = 0 if turn is self._holder else self._waiting.index(turn) + 1
            shown_ahead = self._ahead(turn)
            turn.cancel(by)
            self._changed.notify_all()
        return turn.shown(position, shown_ahead)
