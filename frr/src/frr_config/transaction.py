"""Gives many lines to one daemon as transactions of its northbound.

At each transaction a daemon compares, checks and copies its whole tree, so a transaction for each line takes
time that grows with the square of their number. Between the two marks that vtysh writes around a file, the
daemon gathers lines and carries them out together, but only while it receives nothing else. Up to FRR 8
``exit`` is a command of another sort and ends the transaction. Therefore no context is left here: a line that
the open context does not know is looked up in the contexts around it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from frr_config.errors import FrrCommandError
from frr_config.step import Command
from frr_config.tables import meaning_of
from frr_config.version import FrrVersion
from frr_config.vty import Answer, Vty, refusal

MOST_LINES = 4000
"""Lines in one transaction. FRR 10 ends a transaction itself after 5,000; FRR 8 reads all that it has of
one again for each line.
"""
MOST_ENTRIES = 100
"""Prefix list lines in one transaction of a release that compares each entry with all others. The time
grows with the square of the entries, and the daemon does nothing else in that time: 2,000 held up ospfd
until its neighbors declared it dead.
"""
Forgives = Callable[[Command], bool]
"""Whether to continue when a line is refused."""
_START, _END = "XFRR_start_configuration", "XFRR_end_configuration"
"""The marks that vtysh writes around the lines of a file."""
_UNANSWERED = 64
"""Lines that are sent before their answers are read."""
_LOCK_WAIT_S = 5.0
_LOCK_POLL_S = 0.05


Between = Callable[[], None]
"""Called between two transactions; an exception that it raises ends the work there."""


def unhindered() -> None:
    """The Between of work that is never interrupted."""


def give(
    vty: Vty,
    commands: Sequence[Command],
    version: FrrVersion,
    forgives: Forgives,
    singly: Callable[[Command], None],
    between: Between = unhindered,
) -> None:
    """Give lines of a daemon's northbound to it, in operational mode, in few transactions.

    Raises FrrCommandError naming the refused line; the others may be in place or not. Raises FrrUnavailable.
    ``singly`` gives one line outside of a transaction.
    """
    most_entries = MOST_ENTRIES if version.compares_entries else MOST_LINES
    portions = (part for run in _detached(commands) for part in _portions(run, most_entries))
    for number, portion in enumerate(portions):
        if number:
            between()
        _give(vty, portion, forgives, singly)


def _detached(commands: Sequence[Command]) -> Iterator[Sequence[Command]]:
    """First what is removed from contexts that are removed afterwards, in a transaction of its own.

    In one transaction the daemon would see that the context is gone and not that a line of it is.
    """
    removed = {command.text for command in commands if not command.context}
    first = [
        command
        for command in commands
        if command.context and command.text.startswith("no ") and f"no {command.context[0]}" in removed
    ]
    if first:
        yield first
        detached = set(first)
        commands = [command for command in commands if command not in detached]
    yield commands


def _portions(commands: Sequence[Command], most_entries: int) -> Iterator[Sequence[Command]]:
    start = entries = 0
    for end, command in enumerate(commands):
        is_entry = "prefix-list" in command.text.split()[:2]
        if end - start == MOST_LINES or (is_entry and entries == most_entries):
            yield commands[start:end]
            start, entries = end, 0
        entries += is_entry
    if start < len(commands):
        yield commands[start:]


def _give(
    vty: Vty, commands: Sequence[Command], forgives: Forgives, singly: Callable[[Command], None]
) -> None:
    """A transaction that is refused as a whole changes nothing; retrying its halves finds the line at
    fault.
    """
    if len(commands) == 1:
        try:
            singly(commands[0])
        except FrrCommandError:
            if not forgives(commands[0]):
                raise
        return
    if not _accepted(vty, commands, forgives):
        middle = len(commands) // 2
        for half in (commands[:middle], commands[middle:]):
            _give(vty, half, forgives, singly)


def _accepted(vty: Vty, commands: Sequence[Command], forgives: Forgives) -> bool:
    enter = "configure terminal file-lock" if vty.daemon == "mgmtd" else "configure terminal"
    entered = when_unlocked(lambda: vty.ask(enter))
    if not entered.is_success:
        raise refusal(vty.daemon, enter, entered)
    try:
        _said(vty, _START)
        _Lines(vty, forgives).give(commands)
    finally:
        # Closing the connection would also carry out the gathered lines, but only some time later.
        ended = _said(vty, _END)
        _said(vty, "end")
    return ended.is_success and "failed" not in ended.output


class _Lines:
    """Sends lines, each in its context, some before the answers to earlier ones are read."""

    def __init__(self, vty: Vty, forgives: Forgives) -> None:
        self._vty, self._forgives = vty, forgives
        # mgmtd drops input that it reads while it works on a line.
        self._most = 1 if vty.daemon == "mgmtd" else _UNANSWERED
        self._sent: list[Command] = []

    def give(self, commands: Sequence[Command]) -> None:
        """Raises FrrCommandError, FrrUnavailable."""
        context: tuple[str, ...] = ()
        for command in commands:
            if command.context and command.context != context:
                self._settle()
                if not self._entered(command):
                    context = ()
                    continue
            context = command.context
            self._vty.send(command.text)
            self._sent.append(command)
            if _opens(command):
                # If this line is refused, the following lines must not run in the previous context.
                context = (command.text,) if self._settle() else ()
            elif len(self._sent) >= self._most:
                self._settle()
        self._settle()

    def _entered(self, command: Command) -> bool:
        for opener in command.context:
            answer = _said(self._vty, opener)
            if not answer.is_success:
                self._refused(command, refusal(self._vty.daemon, opener, answer))
                return False
        return True

    def _settle(self) -> bool:
        """Read the answers to all lines sent; returns whether the last was successful."""
        sent, self._sent = self._sent, []
        answers = self._vty.receive_all(len(sent))
        for command, answer in zip(sent, answers, strict=True):
            if not answer.is_success:
                self._refused(command, refusal(self._vty.daemon, command.text, answer))
        return not answers or answers[-1].is_success

    def _refused(self, command: Command, error: FrrCommandError) -> None:
        if not self._forgives(command):
            raise error


def when_unlocked(attempt: Callable[[], Answer]) -> Answer:
    """The answer; retries while someone else holds the lock of mgmtd's datastore."""
    until = time.monotonic() + _LOCK_WAIT_S
    while True:
        answer = attempt()
        if answer.is_success or "could not lock" not in answer.output or time.monotonic() >= until:
            return answer
        time.sleep(_LOCK_POLL_S)


def _opens(command: Command) -> bool:
    meaning = meaning_of(command.context, command.text)
    return meaning is not None and meaning.form.opens


def _said(vty: Vty, text: str) -> Answer:
    """Unlike ``ask``, this uses the existing connection: a new one would not be in configuration mode."""
    vty.send(text)
    return vty.receive()
