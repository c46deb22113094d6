"""Starts and stops the router's processes: systemd on the appliance; in the lab `supervisor_manager`."""

from __future__ import annotations

import subprocess
from typing import Literal, Protocol

from appliance.errors import MillraceError

Status = Literal["running", "stopped", "starting", "failed", "unknown"]
RESTART_S = 60.0
"""How long a process may take to start or stop."""
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
        """Stop and start it; returns once it was started. Raises ServiceError."""

    def status(self, name: str) -> Status:
        """Its present state. Raises ServiceError when the service manager does not answer."""

    def failed(self) -> tuple[str, ...]:
        """The names of all that gave up, in order. Raises ServiceError when the manager does not answer."""


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
                ["systemctl", *words], capture_output=True, text=True, timeout=RESTART_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ServiceError(f"systemctl {' '.join(words)}: {error}") from error
