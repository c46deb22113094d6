"""The journal: a note on disk that a transaction is open, so that the next start notices a crash."""

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

        ``mark`` distinguishes the request from others with the same id.
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

        Does not wait for the disk: if a power cut reopens it, the start finds that revision running.
        """
        durable.forget(self._path)

    def read(self) -> dict[str, Any] | None:
        """The open transaction, or None. An unreadable one counts as open, and empty."""
        try:
            data = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            log.error("the journal %s cannot be read: %s", self._path, error)
            return {}
        return data if isinstance(data, dict) else {}
