"""A running FRR: observe, apply, undo and ask for state over the daemons' vty sockets."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from frr_config.config import FrrConfig
from frr_config.configuring import Configuring, everything, nothing, removals
from frr_config.errors import FrrError, FrrUnavailable
from frr_config.health import DaemonHealth, process_uptime_s
from frr_config.line import Line
from frr_config.operation import Operation
from frr_config.parsing import merge, parse_lines
from frr_config.protocols.policy.clauses import DAEMONS
from frr_config.protocols.policy.counting import Counting
from frr_config.startup import write_startup
from frr_config.state import State
from frr_config.step import Command, Step
from frr_config.tables import owners, required_daemons
from frr_config.transaction import Between, Forgives, unhindered
from frr_config.version import V8_4, FrrVersion
from frr_config.vty import Vty, refusal

_SHOW_CONFIGURATION = "show running-config"
_UNANSWERED = 32
"""Commands that are sent before their answers are read."""


class Frr(Protocol):
    """What a real or fake FRR offers to its caller."""

    def version(self) -> FrrVersion:
        """The running release."""

    def observe(self) -> FrrConfig:
        """The live configuration."""

    def apply(self, step: Step, between: Between = unhindered) -> None:
        """Carry out a step."""

    def undo(self, step: Step) -> None:
        """Undo a step."""

    def operate(self, operation: Operation) -> None:
        """Carry out an operational command."""

    def health(self) -> dict[str, DaemonHealth]:
        """Every daemon that has to run."""

    def close(self) -> None:
        """Drop all connections."""


class FrrClient(State):
    """The daemons whose sockets are in ``vty_dir``, and the file in ``config_dir`` from which they boot.

    Thread-safe: configuration and questions about state each have their own connection to every daemon, so
    that a long answer delays neither a commit nor a question to another daemon.
    """

    def __init__(self, vty_dir: Path | str, config_dir: Path | str, *, timeout_s: float = 30.0) -> None:
        super().__init__(self)
        self._vty_dir, self._config_dir = Path(vty_dir), Path(config_dir)
        self._timeout_s = timeout_s
        self._configuring = threading.Lock()
        self._showing: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._config_vtys: dict[str, Vty] = {}
        self._show_vtys: dict[str, Vty] = {}
        self._version: tuple[int, FrrVersion] | None = None
        self._countings: dict[str, Counting] = {}
        self._parsed: dict[str, tuple[str, tuple[Line, ...]]] = {}

    def close(self) -> None:
        """Drop all connections; they are made again when needed."""
        with self._configuring:
            for vty in self._config_vtys.values():
                vty.close()
        for daemon, vty in list(self._show_vtys.items()):
            with self._showing[daemon]:
                vty.close()

    def version(self) -> FrrVersion:
        """The running release. Raises FrrUnavailable."""
        with self._configuring:
            return self._running_version()

    def observe(self) -> FrrConfig:
        """The live configuration, each line with the daemons that have it. A clause of a route map that a
        daemon has and does not evaluate, although it knows such clauses, is left out there.

        Raises FrrUnavailable.
        """
        with self._configuring:
            version = self._running_version()
            texts = self._ask_all(required_daemons(version), _SHOW_CONFIGURATION)
            return merge(
                {
                    daemon: self._counting(daemon, self._lines(daemon, text, version), version)
                    for daemon, text in texts.items()
                },
                version,
            )

    def apply(self, step: Step, between: Between = unhindered) -> None:
        """Carry out a step. On failure, or when ``between`` raises, the part already done is undone.

        Raises FrrCommandError naming daemon and line, FrrUnavailable, and what ``between`` raises;
        ``between`` is called between the transactions of a step that takes several.
        """
        with self._configuring:
            try:
                self._run(step.do, nothing, between)
            except Exception:
                with contextlib.suppress(FrrError):
                    self._run(step.undo, everything)
                raise

    def undo(self, step: Step) -> None:
        """Undo a step; undoing something that is already gone is no error.

        Raises FrrCommandError, FrrUnavailable.
        """
        with self._configuring:
            self._run(step.undo, removals)

    def write_startup(self, config: FrrConfig) -> None:
        """Replace ``frr.conf``, from which FRR boots. Raises OSError."""
        write_startup(config, self._config_dir)

    def health(self) -> dict[str, DaemonHealth]:
        """Every daemon that has to run. Never raises for a daemon that does not run, and never waits for
        a commit.
        """
        version = self._last_version
        with contextlib.suppress(FrrError):
            version = FrrVersion.parse(self.show("zebra", "show version"))
        return {daemon: self._health_of(daemon) for daemon in required_daemons(version)}

    def show(self, daemon: str, command: str) -> str:
        """The output of an operational command, in words or JSON. Raises FrrUnavailable."""
        with self._showing[daemon]:
            return self._show_vty(daemon).ask(command).output

    def operate(self, operation: Operation) -> None:
        """Carry out an operational command. Waits for no commit.

        Raises FrrCommandError where the daemon refuses it, FrrUnavailable.
        """
        with self._showing[operation.daemon]:
            answer = self._show_vty(operation.daemon).ask(operation.text)
        # bgpd reports success even when its output says that it refused the command.
        if not answer.is_success or answer.output.lstrip().startswith("%"):
            raise refusal(operation.daemon, operation.text, answer)

    def streamed(self, daemon: str, command: str) -> Iterator[str]:
        """The same output in pieces; the lock is held until the last piece is read or the iterator is
        closed.
        """
        with self._showing[daemon]:
            vty = self._show_vty(daemon)
            # A new connection, because a retry half-way would repeat pieces.
            vty.close()
            yield from vty.stream(command)

    def _running_version(self) -> FrrVersion:
        vty = self._vty("zebra")
        if self._version is None or self._version[0] != vty.generation:
            shown = vty.run("show version")
            self._version = (vty.generation, FrrVersion.parse(shown))
        return self._version[1]

    @property
    def _last_version(self) -> FrrVersion:
        return self._version[1] if self._version else V8_4

    def _ask_all(self, daemons: Iterable[str], command: str) -> dict[str, str]:
        """The daemons work on their answers at the same time."""
        vtys = [self._vty(daemon) for daemon in daemons]
        answers: dict[str, str] = {}
        try:
            for vty in vtys:
                vty.send(command)
            for vty in vtys:
                answers[vty.daemon] = vty.receive().output
        except FrrUnavailable:
            for vty in vtys:
                vty.close()
            # One of the daemons was restarted; a new connection tells whether it is back.
            return {vty.daemon: vty.run(command) for vty in vtys}
        return answers

    def _lines(self, daemon: str, text: str, version: FrrVersion) -> tuple[Line, ...]:
        """Parsed once for as long as a daemon's output stays the same."""
        known = self._parsed.get(daemon)
        if known is None or known[0] != text:
            lines = parse_lines(text)
            kept = tuple(line for line in lines if _is_own(daemon, line, version))
            known = self._parsed[daemon] = (text, kept)
        return known[1]

    def _counting(self, daemon: str, lines: tuple[Line, ...], version: FrrVersion) -> tuple[Line, ...]:
        """Without the lines of route maps that the daemon does not evaluate."""
        evaluating = "zebra" if daemon == "mgmtd" else daemon
        if evaluating not in DAEMONS or (daemon == "zebra" and version.has_mgmtd):
            return lines
        vty = self._vty(evaluating)
        counting = self._countings.setdefault(evaluating, Counting(evaluating))
        return counting.lines(lines, version, vty.generation, partial(_answers, vty))

    def _run(self, commands: tuple[Command, ...], forgives: Forgives, between: Between = unhindered) -> None:
        with Configuring(self._vty, self._last_version) as configuring:
            configuring.run_all(commands, forgives, between)

    def _health_of(self, daemon: str) -> DaemonHealth:
        started = time.monotonic()
        try:
            shown = self.show(daemon, "show version")
            running = FrrVersion.parse(shown)
        except FrrError:
            return DaemonHealth(running=False, version="", uptime_s=None, answer_s=None)
        answer_s = time.monotonic() - started
        uptime_s = process_uptime_s(self._vty_dir / f"{daemon}.pid")
        return DaemonHealth(running=True, version=str(running), uptime_s=uptime_s, answer_s=answer_s)

    def _vty(self, daemon: str) -> Vty:
        return self._config_vtys.setdefault(daemon, Vty(self._vty_dir, daemon, self._timeout_s))

    def _show_vty(self, daemon: str) -> Vty:
        return self._show_vtys.setdefault(daemon, Vty(self._vty_dir, daemon, self._timeout_s))


def _answers(vty: Vty, commands: Sequence[str]) -> list[str]:
    """The answers to many commands, some of which are sent before the first answers are read."""
    answers: list[str] = []
    for start in range(0, len(commands), _UNANSWERED):
        sent = commands[start : start + _UNANSWERED]
        for command in sent:
            vty.send(command)
        answers += (answer.output for answer in vty.receive_all(len(sent)))
    return answers


def _is_own(daemon: str, line: Line, version: FrrVersion) -> bool:
    """False for the copy of mgmtd's lines that a daemon of FRR 10 also prints."""
    known = owners(line.context, line.text, version)
    return not known or daemon in known
