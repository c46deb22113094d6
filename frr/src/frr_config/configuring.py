"""Configuration mode in several daemons at once: each line goes to the daemons that take it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from types import TracebackType

from frr_config.errors import FrrCommandError, FrrUnavailable
from frr_config.step import Command
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
        for daemon, run in _runs(commands):
            if daemon is not None and self._transaction(daemon, [command.text for command in run]):
                continue
            for command in run:
                try:
                    self.run(command)
                except FrrCommandError:
                    if not lenient or not command.text.startswith("no "):
                        raise

    def _transaction(self, daemon: str, lines: Sequence[str]) -> bool:
        """Give many lines as one transaction; False where it was refused as a whole, and nothing changed.

        Both daemons compare all of their configuration at each line otherwise. Which line was refused is not
        said: giving them one by one tells.
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
            for line in lines:
                vty.run(line)
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


def _runs(commands: Iterable[Command]) -> Iterator[tuple[str | None, list[Command]]]:
    """Commands in order, those that one transaction can hold together with the daemon it is for."""
    for daemon, found in groupby(commands, key=_transactional):
        run = list(found)
        yield (daemon if len(run) >= _TRANSACTION_LINES else None), run


def _transactional(command: Command) -> str | None:
    """The daemon, where a line is for a single one that has transactions and is at the top."""
    (daemon, *others) = command.daemons
    able = not others and not command.context and command.mode == "configure"
    return daemon if able and daemon in ("staticd", "mgmtd") else None


def _when_unlocked(attempt: Callable[[], Answer]) -> Answer:
    """The answer; while it is that someone else holds the lock of mgmtd's datastore, try again."""
    until = time.monotonic() + _LOCK_WAIT_S
    while True:
        answer = attempt()
        if answer.is_success or "could not lock" not in answer.output or time.monotonic() >= until:
            return answer
        time.sleep(_LOCK_POLL_S)
