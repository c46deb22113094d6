"""``python -m appliance.agent --config FILE``."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from pathlib import Path

from appliance.agent import logfmt
from appliance.agent.garbage import collect_seldom
from appliance.agent.service import alone, serve
from appliance.agent.settings import load
from appliance.agent.wiring import build
from appliance.engine import folders
from appliance.errors import MillraceError

log = logging.getLogger("appliance.agent")
SWITCH_S = 0.0005
"""How long a thread computes while another is ready to run. A commit's threads each wake for a moment, to
query the router again: Python's default of 5 ms is as long as most answers take."""


def run(config: Path) -> int:
    """Serve until told to stop; returns 1 when it cannot run, which is logged."""
    logfmt.configure()
    sys.setswitchinterval(SWITCH_S)
    try:
        settings = load(config)
        folders.trust(settings.folder_owners)
        with alone(settings.state_dir):
            router = build(settings)
            collect_seldom()
            asyncio.run(serve(router, settings))
    except (MillraceError, OSError) as error:
        log.error("the agent cannot run: %s", error)
        return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Entry point of ``applianced``; the exit code."""
    parser = argparse.ArgumentParser(
        prog="applianced",
        description="Own the router's document: configure the data plane, FRR and the host, "
        "and serve the agent's socket.",
    )
    parser.add_argument(
        "--config",
        type=Path,
        default=Path("/etc/millrace/agent.json"),
        help="file with the agent's settings, JSON (default: %(default)s)",
    )
    return run(parser.parse_args(arguments).config)


if __name__ == "__main__":
    raise SystemExit(main())
