"""The lab's processes under supervisord (PyPI `supervisor`): its configuration, start, stop and state."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
import xmlrpc.client
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.errors import LabError, NotReady
from lab.leftovers import MARKER, end_processes, marked_processes, process_alive
from lab.precedence import LAB_NICE, set_session_nice

_SOCKET_PATH_LIMIT = 90  # sockaddr_un holds 107 bytes, and supervisord binds to a longer temporary name first
_SPAWNED = re.compile(r"spawned: '([\w-]+)' with pid (\d+)")
_FAULT_NOT_RUNNING, _FAULT_ALREADY_STARTED = 70, 60


@dataclass(frozen=True)
class Program:
    """A process to keep running.

    `priority` orders the start (lower first); `stop_s` is how long it may take to end on SIGTERM; `user` is
    the login name to change to before the start; a program that is not `automatic` is started only by name.
    """

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    priority: int = 500
    directory: Path | None = None
    stop_s: int = 10
    stop_signal: str = "TERM"
    automatic: bool = True
    nice: int = 0
    """Below 0 it gets more CPU time than others, as from its systemd unit on the appliance."""


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class _UnixTransport(xmlrpc.client.Transport):
    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def make_connection(self, host: Any) -> http.client.HTTPConnection:  # noqa: ARG002 - xmlrpc's signature
        return _UnixConnection(self._path)


class Supervisor:
    """supervisord of one lab, with its files in `directory` (run/, log/ and supervisord.conf)."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.socket = directory / "run" / "supervisor.sock"
        self.pid_file = directory / "run" / "supervisord.pid"
        self.config = directory / "supervisord.conf"
        if len(str(self.socket)) > _SOCKET_PATH_LIMIT:
            raise LabError(f"{self.socket}: too long for a Unix socket; use a directory with a shorter path")

    def start(self, programs: Sequence[Program]) -> None:
        """Bring supervisord up with exactly `programs`, all of them started, from any state.

        A running one takes the difference: unchanged programs keep running; leftovers of a dead one are
        ended.
        """
        for name in ("run", "log"):
            (self.directory / name).mkdir(mode=0o755, parents=True, exist_ok=True)
        self.config.touch(mode=0o600)  # environments may hold secrets
        self.config.write_text(render(self.directory, programs))
        if self.alive():
            self._reread()
            self._start_stopped({program.name for program in programs if program.automatic})
            return
        end_processes(marked_processes(self.directory))
        self.socket.unlink(missing_ok=True)
        executable = Path(sys.executable).with_name("supervisord")
        done = subprocess.run(
            [sys.executable, str(executable), "-c", str(self.config)],
            env={**os.environ, MARKER: str(self.directory)},
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        if done.returncode != 0:
            raise LabError(f"supervisord did not start: {(done.stderr or done.stdout).strip()}")
        self._wait_answer()
        # It created its own session, which contains all its programs.
        set_session_nice(int(self._call("supervisor.getPID")), LAB_NICE)

    def stop(self, timeout_s: float = 45.0) -> None:
        """End supervisord and everything it started; processes that do not end in time are killed."""
        pid = self._pid()
        if pid is not None:
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + timeout_s
            while process_alive(pid) and time.monotonic() < deadline:
                time.sleep(0.1)
        end_processes(marked_processes(self.directory))
        self.socket.unlink(missing_ok=True)
        self.pid_file.unlink(missing_ok=True)

    def alive(self) -> bool:
        """Whether supervisord answers."""
        try:
            self._call("supervisor.getPID")
        except (OSError, http.client.HTTPException, xmlrpc.client.Error):
            return False
        return True

    def states(self) -> dict[str, str]:
        """Program name -> RUNNING, STARTING, STOPPED, BACKOFF, FATAL, ... ; empty when not alive."""
        if not self.alive():
            return {}
        return {info["name"]: info["statename"] for info in self._call("supervisor.getAllProcessInfo")}

    def pid(self, name: str) -> int:
        """The process id of a program, 0 while it does not run."""
        return int(self._call("supervisor.getProcessInfo", name)["pid"])

    def stop_program(self, name: str) -> None:
        """Stop one program and wait until it has ended; no error if it was stopped already."""
        self._call_tolerating(_FAULT_NOT_RUNNING, "supervisor.stopProcess", name)

    def start_program(self, name: str) -> None:
        """Start one program and wait until it runs; no error if it runs already."""
        self._call_tolerating(_FAULT_ALREADY_STARTED, "supervisor.startProcess", name)

    def restart(self, name: str) -> None:
        """Stop, then start."""
        self.stop_program(name)
        self.start_program(name)

    def wait_running(self, timeout_s: float = 60.0, names: Sequence[str] | None = None) -> None:
        """Wait until the named (or all automatic) programs run; raises NotReady with the last observed
        state.
        """
        deadline = time.monotonic() + timeout_s
        while True:
            seen = self.states()
            chosen = {name: seen.get(name, "UNKNOWN") for name in names} if names is not None else seen
            waiting = {name: state for name, state in chosen.items() if state not in ("RUNNING", "STOPPED")}
            if seen and not waiting:
                return
            if time.monotonic() > deadline:
                told = ", ".join(f"{name} is {state}" for name, state in sorted(waiting.items()))
                seen_last = told or "supervisord does not answer"
                raise NotReady(f"after {timeout_s:g} s {seen_last} (see {self.directory}/log)")
            for name, process_state in waiting.items():
                if process_state in ("FATAL", "EXITED"):
                    self.start_program_later(name)
            time.sleep(0.2)

    def start_program_later(self, name: str) -> None:
        """Request a start without waiting for it."""
        self._call_tolerating(_FAULT_ALREADY_STARTED, "supervisor.startProcess", name, False)

    def _reread(self) -> None:
        added, changed, removed = self._call("supervisor.reloadConfig")[0]
        for name in (*removed, *changed):
            self._call("supervisor.stopProcessGroup", name)
            self._call("supervisor.removeProcessGroup", name)
        for name in (*changed, *added):
            self._call("supervisor.addProcessGroup", name)

    def _start_stopped(self, names: set[str]) -> None:
        for name, process_state in self.states().items():
            if name in names and process_state in ("FATAL", "EXITED", "STOPPED"):
                self.start_program_later(name)

    def _wait_answer(self, timeout_s: float = 15.0) -> None:
        deadline = time.monotonic() + timeout_s
        while not self.alive():
            if time.monotonic() > deadline:
                raise NotReady(f"supervisord does not answer on {self.socket}")
            time.sleep(0.1)

    def _pid(self) -> int | None:
        try:
            return int(self._call("supervisor.getPID"))
        except (OSError, http.client.HTTPException, xmlrpc.client.Error):
            return None

    def _call(self, method: str, *arguments: object) -> Any:
        with xmlrpc.client.ServerProxy("http://localhost/RPC2", _UnixTransport(str(self.socket))) as proxy:
            return getattr(proxy, method)(*arguments)

    def _call_tolerating(self, fault: int, method: str, *arguments: object) -> None:
        try:
            self._call(method, *arguments)
        except xmlrpc.client.Fault as error:
            if error.faultCode != fault:
                raise LabError(f"{method} {arguments[0]}: {error.faultString}") from error


def spawned(directory: Path) -> list[tuple[str, int]]:
    """Every process that supervisord of this lab ever started: program and process id."""
    found = []
    for log in sorted((directory / "log").glob("supervisord.log*")):
        found += [(match[1], int(match[2])) for match in _SPAWNED.finditer(log.read_text(errors="replace"))]
    return found


def render(directory: Path, programs: Sequence[Program]) -> str:
    """supervisord.conf for `programs`."""
    run_dir, log_dir = directory / "run", directory / "log"
    lines = [
        "; Written by the lab; rewritten by every `up`.",
        "[supervisord]",
        f"logfile={log_dir}/supervisord.log",
        "logfile_maxbytes=5MB",
        "logfile_backups=1",
        f"pidfile={run_dir}/supervisord.pid",
        f"childlogdir={log_dir}",
        "user=root",
        "[unix_http_server]",
        f"file={run_dir}/supervisor.sock",
        "chmod=0700",
        "[supervisorctl]",
        f"serverurl=unix://{run_dir}/supervisor.sock",
        "[rpcinterface:supervisor]",
        "supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface",
    ]
    for program in programs:
        lines += _render_program(program, directory)
    return "\n".join(lines) + "\n"


def _render_program(program: Program, directory: Path) -> list[str]:
    environment = {**program.environment, MARKER: str(directory)}
    lines = [
        f"[program:{program.name}]",
        "command=" + " ".join(_quoted(word) for word in _with_its_share(program)),
        "environment=" + ",".join(f"{key}={_quoted(value)}" for key, value in sorted(environment.items())),
        f"priority={program.priority}",
        f"autostart={'true' if program.automatic else 'false'}",
        "autorestart=true",
        "startsecs=1",
        # A process may wait for its neighbours for a while, so give up late.
        "startretries=1000",
        f"stopwaitsecs={program.stop_s}",
        f"stopsignal={program.stop_signal}",
        "stopasgroup=true",
        "killasgroup=true",
        "redirect_stderr=true",
        f"stdout_logfile={directory}/log/{program.name}.log",
        "stdout_logfile_maxbytes=5MB",
        "stdout_logfile_backups=1",
        f"directory={program.directory or directory}",
    ]
    if program.user is not None:
        lines.append(f"user={program.user}")
    return lines


def _with_its_share(program: Program) -> Sequence[str]:
    return ["nice", "-n", str(program.nice), *program.argv] if program.nice else program.argv


def _quoted(value: str) -> str:
    """A word as supervisord reads it: its own % expansion and shlex quoting undone."""
    if '"' in value or "\n" in value:
        raise LabError(f"{value!r} cannot be written into supervisord.conf")
    return '"' + value.replace("\\", "\\\\").replace("%", "%%") + '"'
