"""``python -m appliance.agent --config FILE``."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Annotated

import typer

from appliance.agent import logfmt
from appliance.agent.garbage import collect_seldom
from appliance.agent.service import alone, serve
from appliance.agent.settings import load
from appliance.agent.wiring import build
from appliance.engine import folders
from appliance.errors import MillraceError

log = logging.getLogger("appliance.agent")


def run(
    config: Annotated[Path, typer.Option(help="File with the agent's settings, JSON.")] = Path(
        "/etc/millrace/agent.json"
    ),
) -> None:
    """Own the router's document: configure the data plane, FRR and the host, and serve the agent's socket."""
    logfmt.configure()
    try:
        settings = load(config)
        folders.trust(settings.folder_owners)
        with alone(settings.state_dir):
            router = build(settings)
            collect_seldom()
            asyncio.run(serve(router, settings))
    except (MillraceError, OSError) as error:
        log.error("the agent cannot run: %s", error)
        raise typer.Exit(1) from None


def main() -> None:
    """Entry point of ``applianced``."""
    typer.run(run)


if __name__ == "__main__":
    main()
