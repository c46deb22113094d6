"""An upgrade's requests to systemd."""

from __future__ import annotations

import subprocess
from typing import Protocol

from appliance.service_manager import ServiceError, SystemdManager

SERVICE = "millrace-upgrade"
_ANSWER_S = 30.0


class Service(Protocol):
    """What does an upgrade while the agent goes on."""

    def start(self) -> None:
        """Start the service for the request; returns at once. Raises ServiceError."""

    def works(self) -> bool:
        """Whether it is running. Raises ServiceError."""


class SystemdService:
    """The unit of the appliance."""

    def start(self) -> None:
        """Start the unit."""
        _systemctl("start", "--", f"{SERVICE}.service")

    def works(self) -> bool:
        """Whether the unit is active."""
        return SystemdManager().status(SERVICE) in ("starting", "running")


def reboot() -> None:
    """Reboot the router; returns at once. Raises ServiceError."""
    _systemctl("reboot")


def _systemctl(*words: str) -> None:
    try:
        subprocess.run(
            ["systemctl", "--no-block", *words], check=True, capture_output=True, text=True, timeout=_ANSWER_S
        )
    except subprocess.CalledProcessError as error:
        raise ServiceError(f"systemd does not {words[0]}: {str(error.stderr).strip()[-300:]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServiceError(f"systemd does not {words[0]}: {error}") from error
