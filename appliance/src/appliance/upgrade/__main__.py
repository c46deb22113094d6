"""``python -m appliance.upgrade install|healthy``: what the units of an upgrade run, as root.

``install`` does what the agent's request says; ``healthy`` decides about the slot that was booted.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from functools import partial

from pydantic import ValidationError

from appliance.agent import logfmt
from appliance.errors import MillraceError
from appliance.service_manager import SystemdManager
from appliance.upgrade import trial, units
from appliance.upgrade.attempt import Request
from appliance.upgrade.errors import UpgradeRefused
from appliance.upgrade.install import Machine, perform
from appliance.upgrade.observe import observe
from appliance.upgrade.paths import Paths
from appliance.upgrade.progress import Progress, Reporter

log = logging.getLogger("appliance.upgrade")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="appliance.upgrade", description="The units of an upgrade.")
    parser.add_argument("command", choices=("install", "healthy"))
    options = parser.parse_args(arguments)
    logfmt.configure()
    paths = Paths()
    machine = Machine(paths, partial(observe, paths.agent_socket, SystemdManager()), units.reboot)
    if options.command == "install":
        return _install(machine)
    try:
        trial.decide(machine)
    except (MillraceError, OSError) as error:
        log.error("the slot's health cannot be decided: %s", error)
        return 1
    return 0


def _install(machine: Machine) -> int:
    reporter = Reporter(machine.paths.progress)
    try:
        perform(machine, _request(machine.paths), reporter)
    except (MillraceError, OSError) as error:
        log.error("the upgrade failed: %s", error)
        reporter.say(Progress(state="failed", percent=0, detail=str(error)))
        return 1
    finally:
        machine.paths.request.unlink(missing_ok=True)
    return 0


def _request(paths: Paths) -> Request:
    try:
        return Request.model_validate_json(paths.request.read_bytes())
    except (OSError, ValidationError) as error:
        raise UpgradeRefused(f"there is no upgrade to do: {error}") from None


if __name__ == "__main__":
    sys.exit(main())
