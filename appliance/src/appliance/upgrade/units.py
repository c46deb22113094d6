"""What an upgrade asks of systemd."""

from __future__ import annotations

import subprocess

from appliance.service_manager import ServiceError

SERVICE = "millrace-upgrade"
_ANSWER_S = 30.0


def start() -> None:
    """Start the service that does what the request says; returns at once. Raises ServiceError."""
    _systemctl("start", "--", f"{SERVICE}.service")


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
