"""Configuration mode in several daemons at once: each line goes to the daemons that take it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from types import TracebackType

from frr_config.errors import FrrCommandError, FrrUnavailable
from frr_config.line import Line
from frr_config.step import Command
from frr_config.tables import meaning_of, object_of
from frr_config.vty import Answer, Vty, refusal

_LOCK_WAIT_S = 5.0
_LOCK_POLL_S = 0.05
_TRANSACTION_LINES = 8
"""From this many lines on a transaction is worth its two more."""
_START, _END = "XFRR_start_configuration", "XFRR_end_configuration"
"""What vtysh says around the lines of a file."""


class Configuring:
    """Enters configuration mode in a daemon with its first line; leaves it in all daemons at the end."""

    def __init__(self, vty_of: Callable[[str], Vty]) -> None:
        self._vty_of = vty_of
        self._contexts: dict[str, tuple[str, ...]] = {}

    def __enter__(self) -> Configuring:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for daemon in self._contexts:
            vty = self._vty_of(daemon)
            try:
                vty.send("end")
                vty.receive()
            except FrrUnavailable:
                vty.close()

    def run(self, command: Command) -> None:
        """Give one line to its daemons. Raises FrrCommandError naming it, FrrUnavailable."""
        for daemon in command.daemons:
            if command.mode == "exec":
                self._run_exec(daemon, command.text)
            else:
                self._enter(daemon, command.context)
                self._line(daemon, command.text)

    def run_all(self, commands: Iterable[Command], *, lenient: bool = False) -> None:
        """Give lines in order; ``lenient`` goes on where taking back a line is refused: it is not there."""
        for run in _runs(commands):
            given = self._given_as_transactions(run) if len(run) >= _TRANSACTION_LINES else frozenset()
            for command in run:
                left = tuple(daemon for daemon in command.daemons if daemon not in given)
                try:
                    self.run(replace(command, daemons=left))
                except FrrCommandError:
                    if not lenient or not command.text.startswith("no "):
                        raise

    def _given_as_transactions(self, run: Sequence[Command]) -> frozenset[str]:
        """Give each daemon its lines as one transaction; returns the daemons that took theirs."""
        daemons = dict.fromkeys(daemon for command in run for daemon in command.daemons)
        return frozenset(
            daemon
            for daemon in daemons
            if self._transaction(daemon, [command for command in run if daemon in command.daemons])
        )

    def _transaction(self, daemon: str, commands: Sequence[Command]) -> bool:
        """Give many lines as one transaction; False where it was refused as a whole, and nothing changed.

        A daemon compares all of its configuration at each line otherwise. Which line was refused is not said:
        giving them one by one tells.
        """
        if daemon in self._contexts:
            self._line(daemon, "end")
            del self._contexts[daemon]
        vty = self._vty_of(daemon)
        try:
            enter = "configure terminal file-lock" if daemon == "mgmtd" else "configure terminal"
            if not _when_unlocked(lambda: vty.ask(enter)).is_success:
                return False
            self._contexts[daemon] = ()
            vty.run(_START)
            for command in commands:
                self._enter(daemon, command.context)
                vty.run(command.text)
                if _opens(command):
                    self._contexts[daemon] = (command.text,)
            ended = vty.run(_END)
        except FrrCommandError:
            self._contexts.pop(daemon, None)
            vty.close()
            return False
        self._line(daemon, "end")
        del self._contexts[daemon]
        return "failed" not in ended

    def _run_exec(self, daemon: str, text: str) -> None:
        vty = self._vty_of(daemon)
        prefix = "do " if daemon in self._contexts else ""
        # A soft clear of a neighbor that is not up is refused, and not needed.
        vty.ask(prefix + text)

    def _enter(self, daemon: str, context: tuple[str, ...]) -> None:
        current = self._contexts.get(daemon)
        if current is None:
            self._configure(daemon)
            current = ()
        shared = 0
        while shared < min(len(current), len(context)) and current[shared] == context[shared]:
            shared += 1
        for _ in current[shared:]:
            self._line(daemon, "exit")
        self._contexts[daemon] = context[:shared]
        for opener in context[shared:]:
            self._line(daemon, opener)
            self._contexts[daemon] = (*self._contexts[daemon], opener)

    def _configure(self, daemon: str) -> None:
        vty = self._vty_of(daemon)
        answer = _when_unlocked(lambda: vty.ask("configure terminal"))
        if not answer.is_success:
            raise refusal(daemon, "configure terminal", answer)
        self._contexts[daemon] = ()

    def _line(self, daemon: str, text: str) -> None:
        vty = self._vty_of(daemon)

        def attempt() -> Answer:
            vty.send(text)
            return vty.receive()

        try:
            answer = _when_unlocked(attempt)
        except FrrUnavailable:
            # A new connection would not be in configuration mode.
            self._contexts.pop(daemon, None)
            raise
        if not answer.is_success:
            # Where a refused line leaves the daemon is not said: start again from the top.
            self._contexts.pop(daemon, None)
            vty.close()
            raise refusal(daemon, text, answer)


def _runs(commands: Iterable[Command]) -> Iterator[list[Command]]:
    """Commands in order: those together that one transaction can hold, and each other one alone."""
    for transactional, found in groupby(commands, key=_is_transactional):
        if transactional:
            yield list(found)
        else:
            yield from ([command] for command in found)


def _is_transactional(command: Command) -> bool:
    line = Line(command.context, command.text.removeprefix("no "))
    return command.mode == "configure" and object_of(line).kind.transactional


def _opens(command: Command) -> bool:
    meaning = meaning_of(command.context, command.text)
    return meaning is not None and meaning.form.opens


def _when_unlocked(attempt: Callable[[], Answer]) -> Answer:
    """The answer; while it is that someone else holds the lock of mgmtd's datastore, try again."""
    until = time.monotonic() + _LOCK_WAIT_S
    while True:
        answer = attempt()
        if answer.is_success or "could not lock" not in answer.output or time.monotonic() >= until:
            return answer
        time.sleep(_LOCK_POLL_S)
