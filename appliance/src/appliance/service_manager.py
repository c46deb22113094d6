"""Who starts and stops the router's processes: systemd on the appliance, supervisor in the lab."""

from __future__ import annotations

import http.client
import socket
import subprocess
import xmlrpc.client
from pathlib import Path
from typing import Any, Literal, Protocol

from appliance.errors import MillraceError

Status = Literal["running", "stopped", "starting", "failed", "unknown"]
_RESTART_S = 60.0
_NOT_RUNNING = 70
"""Supervisor's fault when a process that is stopped is to be stopped."""
_SUPERVISOR_STATES: dict[str, Status] = {
    "RUNNING": "running",
    "STARTING": "starting",
    "BACKOFF": "starting",
    "STOPPING": "stopped",
    "STOPPED": "stopped",
    "EXITED": "stopped",
    "FATAL": "failed",
}
_SYSTEMD_STATES: dict[str, Status] = {
    "active": "running",
    "reloading": "running",
    "activating": "starting",
    "deactivating": "stopped",
    "inactive": "stopped",
    "failed": "failed",
}


class ServiceError(MillraceError):
    """A process could not be restarted."""


class ServiceManager(Protocol):
    """``name`` is the process's own name, such as ``vpp`` or ``bgpd``."""

    def restart(self, name: str) -> None:
        """Stop and start it; returns when it was started. Raises ServiceError."""

    def status(self, name: str) -> Status:
        """What it does now. Raises ServiceError when nobody can be asked."""

    def failed(self) -> tuple[str, ...]:
        """The names of all that gave up, in order. Raises ServiceError when nobody can be asked."""


class SystemdManager:
    """Units of systemd."""

    def restart(self, name: str) -> None:
        """Restart the unit ``<name>.service``."""
        done = self._run("restart", name)
        if done.returncode != 0:
            raise ServiceError(f"systemd did not restart {name}: {done.stderr.strip()[-300:]}")

    def status(self, name: str) -> Status:
        """State of the unit ``<name>.service``."""
        return _SYSTEMD_STATES.get(self._run("is-active", name).stdout.strip(), "unknown")

    def failed(self) -> tuple[str, ...]:
        """Units of every kind, with their suffix."""
        done = self._systemctl("list-units", "--state=failed", "--plain", "--no-legend", "--no-pager")
        if done.returncode != 0:
            raise ServiceError(f"systemd does not answer: {done.stderr.strip()[-300:]}")
        return tuple(sorted(line.split()[0] for line in done.stdout.splitlines() if line.strip()))

    def _run(self, verb: str, name: str) -> subprocess.CompletedProcess[str]:
        return self._systemctl(verb, "--", f"{name}.service")

    def _systemctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                ["systemctl", *words], capture_output=True, text=True, timeout=_RESTART_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ServiceError(f"systemctl {' '.join(words)}: {error}") from error


class SupervisorManager:
    """Programs of a supervisord that listens on a Unix socket."""

    def __init__(self, socket_path: Path) -> None:
        self._socket_path = socket_path

    def restart(self, name: str) -> None:
        """Restart the program ``name``."""
        try:
            supervisor = self._supervisor()
            try:
                supervisor.stopProcess(name, True)
            except xmlrpc.client.Fault as fault:
                if fault.faultCode != _NOT_RUNNING:
                    raise
            supervisor.startProcess(name, True)
        except xmlrpc.client.Fault as fault:
            raise ServiceError(f"supervisor did not restart {name}: {fault.faultString}") from fault
        except (OSError, http.client.HTTPException, xmlrpc.client.Error) as error:
            raise ServiceError(f"supervisor does not answer: {error}") from error

    def status(self, name: str) -> Status:
        """State of the program ``name``."""
        try:
            info: Any = self._supervisor().getProcessInfo(name)
        except (OSError, http.client.HTTPException, xmlrpc.client.Error) as error:
            raise ServiceError(f"supervisor does not answer for {name}: {error}") from error
        return _SUPERVISOR_STATES.get(str(info["statename"]), "unknown")

    def failed(self) -> tuple[str, ...]:
        """Programs that supervisord has given up."""
        try:
            known: Any = self._supervisor().getAllProcessInfo()
        except (OSError, http.client.HTTPException, xmlrpc.client.Error) as error:
            raise ServiceError(f"supervisor does not answer: {error}") from error
        return tuple(sorted(str(one["name"]) for one in known if one["statename"] == "FATAL"))

    def _supervisor(self) -> Any:
        return xmlrpc.client.ServerProxy(
            "http://supervisor/RPC2", transport=_Transport(self._socket_path)
        ).supervisor


class _Transport(xmlrpc.client.Transport):
    def __init__(self, socket_path: Path) -> None:
        super().__init__()
        self._socket_path = socket_path

    def make_connection(self, host: Any) -> http.client.HTTPConnection:  # noqa: ARG002 - xmlrpc's signature
        return _Connection(self._socket_path)


class _Connection(http.client.HTTPConnection):
    def __init__(self, socket_path: Path) -> None:
        super().__init__("supervisor", timeout=_RESTART_S)
        self._socket_path = socket_path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_RESTART_S)
        self.sock.connect(str(self._socket_path))
