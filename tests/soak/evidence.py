"""The evidence kept of a round that found something, before the router is set up again."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from appliance.errors import MillraceError
from lab import frr_daemons
from lab.errors import LabError
from tests.live_lab import LiveLab


def keep(live: LiveLab, number: int) -> Path:
    """Logs, the agent's files, its answers and FRR's running configuration, in a new directory."""
    directory = Path(tempfile.mkdtemp(prefix=f"millrace-soak-round-{number}-"))
    shutil.copytree(live.directory / "log", directory / "log", ignore=shutil.ignore_patterns("traffic*"))
    shutil.copytree(live.directory / "agent", directory / "agent", ignore=shutil.ignore_patterns("ballast"))
    router = live.topology.namespaces.router
    answers: dict[str, Callable[[], str]] = {
        "document.json": lambda: json.dumps(live.agent.config(), indent=1),
        "status.json": lambda: json.dumps(live.agent.status(), indent=1),
        "frr.conf": lambda: frr_daemons.vtysh(router, "show running-config"),
        "addresses": lambda: live.topology.run(router, ["ip", "address", "show"]),
        "routes": lambda: live.topology.run(router, ["ip", "route", "show"]),
    }
    for name, ask in answers.items():
        try:
            text = ask()
        except (MillraceError, LabError) as error:
            text = f"{type(error).__name__}: {error}"
        (directory / name).write_text(text)
    return directory
