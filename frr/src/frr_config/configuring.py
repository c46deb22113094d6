"""Configuration mode in several daemons at once: each line goes to the daemons that take it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from types import TracebackType

from frr_config.errors import FrrCommandError, FrrUnavailable
from frr_config.line import Line
from frr_config.step import Command
from frr_config.tables import object_of
from frr_config.transaction import Between, Forgives, give, unhindered, when_unlocked
from frr_config.version import FrrVersion
from frr_config.vty import Answer, Vty, refusal

_TRANSACTION_LINES = 8
"""A transaction adds two lines of its own; it pays from this many lines on."""


def nothing(_command: Command) -> bool:
    """Every refused line is an error."""
    return False


def removals(command: Command) -> bool:
    """Forgives a refused removal: what cannot be removed is not there."""
    return command.text.startswith("no ")


def everything(_command: Command) -> bool:
    """Forgives every refused line: go as far as possible."""
    return True


class Configuring:
    """Enters configuration mode in a daemon with its first line; leaves it in all daemons at the end."""

    def __init__(self, vty_of: Callable[[str], Vty], version: FrrVersion) -> None:
        self._vty_of, self._version = vty_of, version
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

    def run_all(
        self, commands: Iterable[Command], forgives: Forgives = nothing, between: Between = unhindered
    ) -> None:
        """Give lines in order, combining those that one transaction can hold; ``between`` is called between
        transactions.

        Raises FrrCommandError naming the first line that is refused and not forgiven, FrrUnavailable.
        """
        for run in _runs(commands):
            if len(run) >= _TRANSACTION_LINES:
                daemons = dict.fromkeys(daemon for command in run for daemon in command.daemons)
                for number, daemon in enumerate(daemons):
                    if number:
                        between()
                    mine = [command for command in run if daemon in command.daemons]
                    self._give(daemon, mine, forgives, between)
                continue
            for command in run:
                try:
                    self.run(command)
                except FrrCommandError:
                    if not forgives(command):
                        raise

    def _give(self, daemon: str, commands: Sequence[Command], forgives: Forgives, between: Between) -> None:
        self._leave(daemon)

        def singly(command: Command) -> None:
            self.run(replace(command, daemons=(daemon,)))
            self._leave(daemon)

        give(self._vty_of(daemon), commands, self._version, forgives, singly, between)

    def _leave(self, daemon: str) -> None:
        if daemon in self._contexts:
            self._line(daemon, "end")
            del self._contexts[daemon]

    def _run_exec(self, daemon: str, text: str) -> None:
        vty = self._vty_of(daemon)
        prefix = "do " if daemon in self._contexts else ""
        # bgpd refuses a soft clear of a neighbor that is not up; the clear is not needed then.
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
        answer = when_unlocked(lambda: vty.ask("configure terminal"))
        if not answer.is_success:
            raise refusal(daemon, "configure terminal", answer)
        self._contexts[daemon] = ()

    def _line(self, daemon: str, text: str) -> None:
        vty = self._vty_of(daemon)

        def attempt() -> Answer:
            vty.send(text)
            return vty.receive()

        try:
            answer = when_unlocked(attempt)
        except FrrUnavailable:
            # A new connection would not be in configuration mode.
            self._contexts.pop(daemon, None)
            raise
        if not answer.is_success:
            # It is not known in which context a refused line leaves the daemon: start again from the top.
            self._contexts.pop(daemon, None)
            vty.close()
            raise refusal(daemon, text, answer)


def _runs(commands: Iterable[Command]) -> Iterator[list[Command]]:
    """Commands in order: those that one transaction can hold together, every other one alone.

    A context cannot be left inside a transaction, and the context of a VRF also accepts top-level lines as
    its own.
    """
    for (transactional, _), found in groupby(commands, key=_together):
        if transactional:
            yield list(found)
        else:
            yield from ([command] for command in found)


def _together(command: Command) -> tuple[bool, str]:
    vrf = next((opener for opener in command.context[:1] if opener.startswith("vrf ")), "")
    return _is_transactional(command), vrf


def _is_transactional(command: Command) -> bool:
    line = Line(command.context, command.text.removeprefix("no "))
    return command.mode == "configure" and object_of(line).kind.transactional
