"""What a commit or rollback still has to set up again, noted on disk before its revision is recorded.

A session that FRR closed under a lower limit is opened again once the new document runs. The agent may die in
between, so this is noted first, and the next agent does it.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path

from appliance.config.document import RouterConfig
from appliance.engine import durable
from appliance.engine.documents import Documents
from appliance.engine.reserve import Reserve
from appliance.engine.store import RevisionStore
from appliance.errors import MillraceError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reopening:
    """What the document before may keep closed, and the request whose result reports it."""

    before: RouterConfig
    before_revision: int
    request_id: str


class Reopenings:
    """The note of at most one of them."""

    def __init__(self, state_dir: Path, reserve: Reserve) -> None:
        self._path, self._reserve = state_dir / "reopening.json", reserve

    def note(self, due: Reopening) -> None:
        """Note on disk that it is due. Raises nothing: the revision that follows matters more.

        If that revision is never recorded, nothing is found to be due.
        """
        note = {"before": due.before_revision, "request_id": due.request_id}
        try:
            self._reserve.spend(lambda: durable.write_json(self._path, note))
        except OSError as error:
            log.error("that sessions are to be opened again cannot be noted: %s", error)

    def done(self) -> None:
        """Nothing is due any more. Raises nothing: setting up again twice does no harm."""
        try:
            if self._path.exists():
                durable.remove(self._path)
        except OSError as error:
            log.error("the note %s cannot be removed: %s", self._path, error)

    def load(self, store: RevisionStore, documents: Documents) -> Reopening | None:
        """What was still due when the agent stopped."""
        try:
            note = json.loads(self._path.read_bytes())
            before, request_id = int(note["before"]), str(note["request_id"])
            config = documents.read(store.document(before), "").config
            return Reopening(config, before, request_id)
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, RecursionError, OSError, MillraceError) as error:
            log.error("which sessions are to be opened again is not known: %s", error)
        self.done()
        return None
