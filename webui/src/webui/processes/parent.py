"""Forks the parts, restarts a part that ends, and ends all of them when told to."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from webui.processes import board as shared
from webui.processes import child
from webui.processes.board import Board, Standing
from webui.processes.part import Part
from webui.processes.restarts import STEADY_S, Restarts

STOP_S = 8.0
"""How long the parts may take to end; those that have not ended by then are killed."""
VITAL_S = 10.0
"""A vital part that exits sooner than this after its start is not tried again here."""
MOST_KILLS = 4
"""Nor is one that was killed so soon this many times in a row."""
_ENDS = (signal.SIGTERM, signal.SIGINT)
_WATCHED = {*_ENDS, signal.SIGCHLD}
_log = logging.getLogger(__name__)


@dataclass
class _Child:
    part: Part
    restarts: Restarts = field(default_factory=Restarts)
    pid: int = 0
    started_s: float = 0.0
    due_s: float | None = 0.0
    """When it starts; None while it runs."""
    exit_code: int = 0

    @property
    def standing(self) -> Standing:
        return Standing(self.pid, self.restarts.in_a_row, self.exit_code)

    @property
    def wakes_s(self) -> float | None:
        """The time of the next action for it, if it does not end before."""
        if self.due_s is not None:
            return self.due_s
        return self.started_s + STEADY_S if self.restarts.in_a_row else None


class Parent:
    """Runs in a process without threads, and waits only for signals."""

    def __init__(self, parts: Sequence[Part], clock: Callable[[], float] = time.monotonic) -> None:
        self._children = [_Child(part) for part in parts]
        self._clock = clock
        self._board = Board([part.name for part in parts])
        self._mask: Iterable[int] = ()

    def run(self) -> int:
        """Runs until SIGTERM, SIGINT or the end of a vital part; returns the exit code."""
        shared.board = self._board
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
        try:
            while True:
                self._start_due()
                told = self._wait()
                failed = self._reap()
                if told in _ENDS:
                    return self._end(0)
                if failed is not None:
                    _log.error("the part %s does not stay up: the web half ends", failed.name)
                    return self._end(1)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def _start_due(self) -> None:
        now_s = self._clock()
        for one in self._children:
            if one.due_s is not None and one.due_s <= now_s:
                self._fork(one)
            elif one.due_s is None and one.wakes_s is not None and one.wakes_s <= now_s:
                one.restarts.steady()
                self._board.write(one.part.name, one.standing)

    def _fork(self, one: _Child) -> None:
        parent = os.getpid()
        # Buffered output would be written twice.
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                child.become(one.part, parent)
                signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
                code = child.run(one.part)
                logging.shutdown()
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                # The child must not clean up anything of the parent's.
                os._exit(code)
        one.pid, one.started_s, one.due_s = pid, self._clock(), None
        self._board.write(one.part.name, one.standing)

    def _wait(self) -> int | None:
        """The next signal; None when something is due before it."""
        wakes_s = [one.wakes_s for one in self._children if one.wakes_s is not None]
        if not wakes_s:
            return signal.sigwaitinfo(_WATCHED).si_signo
        told = signal.sigtimedwait(_WATCHED, max(0.0, min(wakes_s) - self._clock()))
        return None if told is None else told.si_signo

    def _reap(self) -> Part | None:
        """Record the children that ended; returns a vital one that did not stay up."""
        failed = None
        for one in self._children:
            if one.pid:
                pid, status = os.waitpid(one.pid, os.WNOHANG)
                if pid and self._ended(one, os.waitstatus_to_exitcode(status)):
                    failed = one.part
        return failed

    def _ended(self, one: _Child, exit_code: int) -> bool:
        """Schedule its next start; returns whether a restart is pointless."""
        now_s = self._clock()
        ran_s = now_s - one.started_s
        delay_s = one.restarts.delay_s(ran_s)
        one.pid, one.exit_code, one.due_s = 0, exit_code, now_s + delay_s
        self._board.write(one.part.name, one.standing)
        _log.error(
            "the part %s ended %s after %.1f s: it starts anew in %.0f s",
            one.part.name,
            how(exit_code),
            ran_s,
            delay_s,
        )
        return one.part.vital and ran_s < VITAL_S and (exit_code >= 0 or one.restarts.in_a_row >= MOST_KILLS)

    def _end(self, code: int) -> int:
        """End all, and kill what does not end in time."""
        for one in self._children:
            if one.pid:
                os.kill(one.pid, signal.SIGTERM)
        deadline_s = self._clock() + STOP_S
        while any(one.pid for one in self._children):
            left_s = deadline_s - self._clock()
            if left_s <= 0:
                for one in self._children:
                    if one.pid:
                        _log.error(
                            "the part %s did not end within %.0f s: it is killed", one.part.name, STOP_S
                        )
                        os.kill(one.pid, signal.SIGKILL)
                        os.waitpid(one.pid, 0)
                        one.pid = 0
                break
            signal.sigtimedwait({signal.SIGCHLD}, left_s)
            for one in self._children:
                if one.pid and os.waitpid(one.pid, os.WNOHANG)[0]:
                    one.pid = 0
        return code


def how(exit_code: int) -> str:
    """The end of a child, in words."""
    return f"with exit code {exit_code}" if exit_code >= 0 else f"by {signal.Signals(-exit_code).name}"
