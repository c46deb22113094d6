"""An FRR in memory that takes the same lines: for tests of whatever uses frr_config.

It passes the contract tests of the real client (tests/integration/frr/test_contract.py). It forwards nothing
and has no sessions: state is empty.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator

from frr_config.config import FrrConfig
from frr_config.errors import FrrCommandError, FrrError, FrrUnavailable
from frr_config.health import DaemonHealth
from frr_config.line import Line
from frr_config.masking import mask_line
from frr_config.operation import Operation
from frr_config.parsing import merge
from frr_config.state import State
from frr_config.step import Command, Step
from frr_config.tables import EMPTY_CONTEXTS, opens, owners, required_daemons, setting_of
from frr_config.transaction import MOST_ENTRIES, Between, unhindered
from frr_config.version import V8_4, FrrVersion

_AS_PATH = "bgp as-path access-list "
_PREFIX_LIST = re.compile(r"no (ip(?:v6)? prefix-list \S+)")


class FakeFrr(State):
    """Daemons that keep lines, and can be killed, restarted empty, and told to refuse."""

    def __init__(self, version: FrrVersion = V8_4) -> None:
        super().__init__(self)
        self._version = version
        self._lines: dict[str, _Kept] = {daemon: _Kept() for daemon in required_daemons(version)}
        self._dead: set[str] = set()
        self._fail_after: int | None = None
        self._lock = threading.Lock()
        self.commands: list[Command] = []
        """Every command that was carried out."""
        self.operations: list[Operation] = []
        """Every operational command that was carried out."""

    # What a test does to it

    def kill(self, daemon: str) -> None:
        """The daemon does not answer until ``start``."""
        self._dead.add(daemon)

    def start(self, daemon: str) -> None:
        """The daemon runs again, without any configuration."""
        self._dead.discard(daemon)
        self._lines[daemon].clear()

    def restart(self, daemon: str) -> None:
        """Kill and start."""
        self.kill(daemon)
        self.start(daemon)

    def fail_next(self, skip: int = 0) -> None:
        """Refuse one line, after letting ``skip`` lines pass."""
        self._fail_after = skip

    def type(self, daemon: str, text: str, context: tuple[str, ...] = ()) -> None:
        """Someone configures a daemon by hand."""
        self._configure(daemon, Command((daemon,), context, text))

    # What FrrClient does

    def close(self) -> None:
        """Nothing to drop."""

    def version(self) -> FrrVersion:
        """The release it pretends to be."""
        self._check_running("zebra")
        return self._version

    def observe(self) -> FrrConfig:
        """The live configuration."""
        with self._lock:
            for daemon in self._lines:
                self._check_running(daemon)
            return merge({daemon: tuple(lines) for daemon, lines in self._lines.items()}, self._version)

    def apply(self, step: Step, between: Between = unhindered) -> None:
        """Carry out a step; on failure, or when ``between`` raises, what was begun is put back."""
        with self._lock:
            try:
                for number, command in enumerate(step.do):
                    if number and number % MOST_ENTRIES == 0:
                        between()
                    self._run(command)
            except Exception:
                for command in step.undo:
                    with contextlib.suppress(FrrError):
                        self._run(command)
                raise

    def undo(self, step: Step) -> None:
        """Take a step back."""
        with self._lock:
            for command in step.undo:
                try:
                    self._run(command)
                except FrrCommandError:
                    if not command.text.startswith("no "):
                        raise

    def health(self) -> dict[str, DaemonHealth]:
        """Every daemon."""
        return {
            daemon: DaemonHealth(False, "", None, None)
            if daemon in self._dead
            else DaemonHealth(True, str(self._version), 1.0, 0.0)
            for daemon in self._lines
        }

    def operate(self, operation: Operation) -> None:
        """Carry out an operational command: there is nothing here for it to act on."""
        self._check_running(operation.daemon)
        self.operations.append(operation)

    def show(self, daemon: str, command: str) -> str:
        """No protocol has anything to show."""
        self._check_running(daemon)
        return "{}" if command.endswith(" json") else ""

    def streamed(self, daemon: str, command: str) -> Iterator[str]:
        """The same in one piece."""
        yield self.show(daemon, command)

    def _check_running(self, daemon: str) -> None:
        if daemon in self._dead:
            raise FrrUnavailable(daemon, "no such file or directory")

    def _run(self, command: Command) -> None:
        for daemon in command.daemons:
            self._check_running(daemon)
            if command.mode == "exec":
                continue
            if self._fail_after is not None:
                self._fail_after -= 1
                if self._fail_after < 0:
                    self._fail_after = None
                    raise FrrCommandError(daemon, mask_line(command.text), "% Refused as the test asked")
            self._configure(daemon, command)
        self.commands.append(command)

    def _configure(self, daemon: str, command: Command) -> None:
        kept = self._lines[daemon]
        for depth, text in enumerate(command.context):
            opener = Line(command.context[:depth], text)
            if not text.startswith(EMPTY_CONTEXTS):
                self._check_known(daemon, opener)
                kept.set(opener)
        line = Line(command.context, command.text)
        if self._takes_back(kept, daemon, line):
            return
        self._check_known(daemon, line)
        if line.context or not line.text.startswith(EMPTY_CONTEXTS):
            kept.set(line)

    def _takes_back(self, kept: _Kept, daemon: str, line: Line) -> bool:
        """Whether a line takes others back; if so they are gone."""
        text = line.text
        peer = text.removeprefix("no neighbor ").removesuffix(" peer-group")
        if text.startswith("no neighbor ") and " " not in peer:
            gone = [at for at in kept if at.context[:1] == line.context and _is_of_peer(at, peer)]
        elif prefix_list := _PREFIX_LIST.fullmatch(text):
            gone = [at for at in kept if at.text.startswith(f"{prefix_list[1]} ")]
        else:
            gone = kept.taken_back_by(line)
        for at in gone:
            kept.drop(at)
        if gone or not text.startswith("no "):
            return bool(gone)
        if owners(line.context, text, self._version):
            # ``no bgp default ipv4-unicast`` is a setting in its own right.
            return not text.startswith("no bgp ")
        raise FrrCommandError(daemon, mask_line(text), "% Can't find it")

    def _check_known(self, daemon: str, line: Line) -> None:
        known = owners(line.context, line.text, self._version)
        if known and daemon not in known:
            raise FrrCommandError(daemon, mask_line(line.text), "% Unknown command")


class _Kept:
    """The lines of one daemon: one for each setting."""

    def __init__(self) -> None:
        self._by_setting: dict[tuple[tuple[str, ...], str], Line] = {}
        self._by_removal: dict[tuple[tuple[str, ...], str], Line] = {}

    def __iter__(self) -> Iterator[Line]:
        return iter(self._by_setting.values())

    def clear(self) -> None:
        self._by_setting.clear()
        self._by_removal.clear()

    def set(self, line: Line) -> None:
        setting = setting_of(line)
        other = self._by_setting.get((line.context, setting.key))
        if other is not None:
            self._forget(other)
        if setting.removal == line.text:
            return  # it says the default, which no daemon prints
        self._by_setting[line.context, setting.key] = line
        self._by_removal[line.context, setting.removal] = line

    def taken_back_by(self, line: Line) -> list[Line]:
        if line.text.startswith(f"no {_AS_PATH}"):
            # bgpd looks for the regex alone, and takes the first rule that has it.
            rules = [at for at in self if _same_regex(at.text, line.text.removeprefix("no "))]
            return sorted(rules, key=_sequence)[:1]
        found = self._by_removal.get((line.context, line.text))
        return [] if found is None else [found]

    def drop(self, line: Line) -> None:
        """Remove a line, and what is below it."""
        self._forget(line)
        if opens(line):
            opened = (*line.context, line.text)
            for below in [below for below in self if below.context[: len(opened)] == opened]:
                self._forget(below)

    def _forget(self, line: Line) -> None:
        setting = setting_of(line)
        self._by_setting.pop((line.context, setting.key), None)
        self._by_removal.pop((line.context, setting.removal), None)


def _same_regex(rule: str, other: str) -> bool:
    words, others = rule.split(" ", 7), other.split(" ", 7)
    return rule.startswith(_AS_PATH) and (words[3], words[7]) == (others[3], others[7])


def _sequence(line: Line) -> int:
    return int(line.text.split(" ", 6)[5])


def _is_of_peer(line: Line, peer: str) -> bool:
    words = line.text.removeprefix("no ").split()
    return words[0] == "neighbor" and words[1] == peer
