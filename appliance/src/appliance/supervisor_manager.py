"""The lab's supervisor as the service manager of the router's processes.

Separate from systemd's, so that only the lab's agent imports clients of HTTP and XML-RPC.
"""

from __future__ import annotations

import http.client
import socket
import xmlrpc.client
from pathlib import Path
from typing import Any

from appliance.service_manager import RESTART_S, ServiceError, Status

_NOT_RUNNING = 70
"""Supervisor's fault for a request to stop a stopped process."""
_SUPERVISOR_STATES: dict[str, Status] = {
    "RUNNING": "running",
    "STARTING": "starting",
    "BACKOFF": "starting",
    "STOPPING": "stopped",
    "STOPPED": "stopped",
    "EXITED": "stopped",
    "FATAL": "failed",
}


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
        super().__init__("supervisor", timeout=RESTART_S)
        self._socket_path = socket_path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(RESTART_S)
        self.sock.connect(str(self._socket_path))
