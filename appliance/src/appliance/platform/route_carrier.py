"""The carrier of FRR's routes into VPP on the appliance: the feeder, or linux_nl if root chose it.

The choice is read at boot. It is a fallback for one release, and therefore not part of the document.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Literal

from appliance.engine import durable

Carrier = Literal["feeder", "linux_nl"]

CHOICE = Path("/var/lib/millrace/vpp/route-carrier")
"""Contains ``linux_nl``, and is absent if the feeder carries the routes."""
MARK = Path("/run/millrace/routes-by-feeder")
"""The environment of millrace-feeder.service, which does not start without it."""
FEEDER_SOCKET = Path("/run/millrace/feeder/feeder.sock")
"""In a folder of its own, which is its user's."""

log = logging.getLogger(__name__)


def chosen(path: Path = CHOICE) -> Carrier:
    """Root's choice. A file with any other content is logged, and the feeder carries the routes."""
    try:
        word = path.read_text("utf-8", errors="replace").strip()
    except FileNotFoundError:
        return "feeder"
    except OSError as error:
        log.error("%s cannot be read (%s): the feeder carries the routes", path, error)
        return "feeder"
    if word == "linux_nl":
        return "linux_nl"
    if word != "feeder":
        log.error("%s holds %r, not feeder or linux_nl: the feeder carries the routes", path, word[:40])
    return "feeder"


def announce(carrier: Carrier | None, most_routes: int = 0, mark: Path = MARK) -> None:
    """Let the feeder start, or keep it from starting (``linux_nl``, or None if there is no VPP).

    It gives VPP no more than ``most_routes``, even before the agent runs.
    """
    if carrier == "feeder":
        durable.write(mark, f"MOST_ROUTES={most_routes}\n".encode(), 0o644)
    else:
        mark.unlink(missing_ok=True)
