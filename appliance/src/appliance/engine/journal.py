"""The journal: says on disk that a transaction is open, so that a crash is noticed at the next start."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from appliance.engine import durable
from appliance.engine.records import PlannedStep, timestamp

log = logging.getLogger(__name__)


class Journal:
    """At most one open transaction."""

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / "journal.json"

    def open(
        self,
        base_revision: int,
        request_id: str,
        author: str,
        steps: Sequence[PlannedStep],
        mark: str = "",
    ) -> None:
        """Durable when it returns: from now on the router may differ from ``base_revision``.

        ``mark`` tells the request apart from others with its id.
        """
        durable.write_json(
            self._path,
            {
                "base_revision": base_revision,
                "request_id": request_id,
                "mark": mark,
                "author": author,
                "time": timestamp(),
                "steps": [planned.to_json() for planned in steps],
            },
        )

    def close(self) -> None:
        """The router is at the last recorded revision.

        Waits for no disk: should a cut of power open it again, that revision is found to run at the start.
        """
        durable.forget(self._path)

    def read(self) -> dict[str, Any] | None:
        """The open transaction, or None. One that cannot be read is open all the same, and empty."""
        try:
            data = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            log.error("the journal %s cannot be read: %s", self._path, error)
            return {}
        return data if isinstance(data, dict) else {}
