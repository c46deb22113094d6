"""Many lines given to one daemon as transactions of its northbound.

At each transaction a daemon compares, checks and copies its whole tree: a transaction for each line takes
time that grows with the square of their number. Between the two marks that vtysh writes around a file the
daemon gathers lines and carries them out together, but only while it is given nothing else. Up to FRR 8
``exit`` is a command of another sort and ends the transaction, so no context is left here: a line that the
open context does not know is looked up in those around it.
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
"""In one transaction. FRR 10 ends one by itself after 5,000; FRR 8 reads what it has of one for each line."""
MOST_ENTRIES = 100
"""Of prefix lists, in one transaction of a release that compares each with all others. Time grows with the
square of the entries, and it does nothing else meanwhile: 2,000 held ospfd until its neighbors gave it up.
"""
Forgives = Callable[[Command], bool]
"""Whether to go on when a line is refused."""
_START, _END = "XFRR_start_configuration", "XFRR_end_configuration"
"""What vtysh says around the lines of a file."""
_UNANSWERED = 64
"""Lines that are sent ahead of their answers."""
_LOCK_WAIT_S = 5.0
_LOCK_POLL_S = 0.05


def give(
    vty: Vty,
    commands: Sequence[Command],
    version: FrrVersion,
    forgives: Forgives,
    singly: Callable[[Command], None],
) -> None:
    """Give lines of a daemon's northbound to it, in operational mode, as few transactions.

    Raises FrrCommandError naming the line that is refused; the others may be in place or not. Raises
    FrrUnavailable. ``singly`` gives one line outside of a transaction.
    """
    for portion in _portions(commands, MOST_ENTRIES if version.compares_entries else MOST_LINES):
        _give(vty, portion, forgives, singly)


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
    """A transaction that is refused as a whole changes nothing; its halves tell which line it is for."""
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
        # Closing the connection would carry out what was gathered too, but some time later.
        ended = _said(vty, _END)
        _said(vty, "end")
    return ended.is_success and "failed" not in ended.output


class _Lines:
    """Sends lines, each in its context, some ahead of their answers."""

    def __init__(self, vty: Vty, forgives: Forgives) -> None:
        self._vty, self._forgives = vty, forgives
        # mgmtd drops what it reads while it works on a line.
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
                # What follows must not run in the context before, should this one be refused.
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
        """Read the answers to all that was sent; whether the last was a good one."""
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
    """The answer; while it is that someone else holds the lock of mgmtd's datastore, try again."""
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
    """Unlike ``ask``, on the connection that is: a new one would not be in configuration mode."""
    vty.send(text)
    return vty.receive()
