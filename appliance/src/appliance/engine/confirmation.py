"""Commit-confirm: the timer on disk, so that it runs out also while no agent runs."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from appliance.engine import durable
from appliance.engine.known_fields import known_fields
from appliance.engine.records import Revision

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pending:
    """A revision that goes back to ``rollback_to`` at ``expires_at_s`` (Unix time) unless confirmed."""

    revision: int
    rollback_to: int
    expires_at_s: float
    confirm_s: float


class Confirmation:
    """The one revision that may await confirmation."""

    def __init__(self, state_dir: Path, clock: Callable[[], float]) -> None:
        self._path = state_dir / "pending.json"
        self._clock = clock
        self._pending: Pending | None = None

    def load(self, head: int, recorded: Revision | None = None) -> None:
        """Read the timer at start. One of another revision than ``head`` is of a commit never recorded.

        One that cannot be read begins anew, as ``recorded``, the record of ``head``, says.
        """
        try:
            pending = Pending(**known_fields(Pending, json.loads(self._path.read_bytes())))
        except FileNotFoundError:
            return
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            log.error("the timer of the unconfirmed revision cannot be read: %s", error)
            if recorded is None or recorded.confirm_s is None:
                self.clear()
            else:
                self.arm(head, recorded.base_revision, recorded.confirm_s)
            return
        if pending.revision != head:
            self.clear()
            return
        # A clock set back while we were down must not keep an unconfirmed revision longer than agreed.
        latest = self._clock() + pending.confirm_s
        self._pending = Pending(
            pending.revision, pending.rollback_to, min(pending.expires_at_s, latest), pending.confirm_s
        )

    @property
    def pending(self) -> Pending | None:
        """What awaits confirmation now."""
        return self._pending

    def arm(self, revision: int, rollback_to: int, confirm_s: float) -> Pending:
        """Start the timer, durably. Called before ``revision`` is recorded: none is ever without it."""
        pending = Pending(revision, rollback_to, self._clock() + confirm_s, confirm_s)
        durable.write_json(self._path, asdict(pending))
        self._pending = pending
        return pending

    def restore(self, pending: Pending | None) -> None:
        """Put the timer back that was there before ``arm``."""
        if pending is None:
            self.clear()
        else:
            durable.write_json(self._path, asdict(pending))
            self._pending = pending

    def clear(self) -> None:
        """Stop the timer, durably."""
        self._pending = None
        if self._path.exists():
            durable.remove(self._path)

    @property
    def expired(self) -> bool:
        """Whether the timer has run out."""
        return self._pending is not None and self._clock() >= self._pending.expires_at_s
