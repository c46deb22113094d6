"""The feeder, which carries FRR's routes into VPP on the appliance: its socket, and whether it may start."""

from __future__ import annotations

import logging
from pathlib import Path

from appliance.engine import durable

OLD_CHOICE = Path("/var/lib/millrace/vpp/route-carrier")
"""In it root could choose VPP's plugin linux_nl for one release, which is over."""
MARK = Path("/run/millrace/routes-by-feeder")
"""The environment of millrace-feeder.service, which does not start without it."""
FEEDER_SOCKET = Path("/run/millrace/feeder/feeder.sock")
"""In a folder of its own, which is its user's."""

log = logging.getLogger(__name__)


def refuse_old_choice(path: Path = OLD_CHOICE) -> None:
    """Say in the log that a choice of linux_nl has no effect any more."""
    try:
        word = path.read_text("utf-8", errors="replace").strip()
    except FileNotFoundError:
        return
    except OSError as error:
        log.error("%s cannot be read (%s): the feeder carries the routes", path, error)
        return
    if word != "feeder":
        log.error("%s holds %r, but only the feeder carries routes now: remove the file", path, word[:40])


def announce(most_routes: int | None, mark: Path = MARK) -> None:
    """Let the feeder start, or keep it from starting (None: there is no VPP).

    It gives VPP no more than ``most_routes``, even before the agent runs.
    """
    if most_routes is None:
        mark.unlink(missing_ok=True)
    else:
        durable.write(mark, f"MOST_ROUTES={most_routes}\n".encode(), 0o644)
