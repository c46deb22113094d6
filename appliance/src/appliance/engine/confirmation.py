"""Commit-confirm: the timer on disk, so that it goes on while no agent runs.

The timer counts only the time the machine is up: CLOCK_BOOTTIME within one boot; after a reboot it goes on
from the time that was left. Setting the clock, forward or back, does not move it. Time without power does not
count, since nobody could confirm then. The time left is noted every few seconds, and the seconds until the
next note are charged in advance: a power cut makes the timer end a little earlier, never later.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from appliance.engine import durable
from appliance.engine.clock import Clock
from appliance.engine.known_fields import known_fields
from appliance.engine.records import Revision
from appliance.engine.reserve import Reserve

log = logging.getLogger(__name__)
Write = Callable[[Path, bytes], None]

_CHARGE_S = 10.0
"""The longest time between two notes of the time left."""
_CHARGES = 10
"""The largest part of the agreed time that a power cut may cost: one tenth."""


@dataclass(frozen=True)
class Pending:
    """A revision that goes back to ``rollback_to`` unless it is confirmed within ``confirm_s``."""

    revision: int
    rollback_to: int
    """The last confirmed revision."""
    confirm_s: float
    reason: str = ""
    """Why the timer was set without a request; empty when it was requested."""
    boot_id: str = ""
    ends_boot_s: float = 0.0
    """When it ends in the boot ``boot_id``, by Clock.boot_s."""
    left_s: float | None = None
    """The time a later boot grants; None when nothing was noted, which means all of it."""

    @property
    def charge_s(self) -> float:
        """How many seconds the note charges in advance."""
        return min(_CHARGE_S, self.confirm_s / _CHARGES)


class Confirmation:
    """The one revision that may await confirmation."""

    def __init__(self, state_dir: Path, clock: Clock, reserve: Reserve) -> None:
        self._path, self._confirmed_path = state_dir / "pending.json", state_dir / "confirmed.json"
        self._clock, self._reserve = clock, reserve
        self._pending: Pending | None = None
        self._noted_s = 0.0
        self.deciding = threading.RLock()
        """Held to confirm, and while a revision that replaces the unconfirmed one is recorded."""

    def load(self, head: Revision | None) -> None:
        """Read the timer at start. ``head`` is the last recorded revision, None before the first.

        A timer of another revision belongs to a commit that was never recorded. A timer that cannot be read
        is taken for that of ``head`` if ``head`` was committed with one: then its whole time begins again.
        """
        try:
            kept = _kept(json.loads(self._path.read_bytes()))
        except FileNotFoundError:
            return
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OSError) as error:
            log.error("the confirm timer in %s cannot be read: %s", self._path, error)
            kept = [] if head is None or self.was_confirmed(head.revision) else _of_record(head)
        pending = next((one for one in kept if head is not None and one.revision == head.revision), None)
        if pending is None:
            self.clear()
            return
        self._pending = pending if pending.boot_id == self._clock.boot_id else self._in_this_boot(pending)
        try:
            self._note()
        except OSError as error:
            log.error("the confirm timer cannot be written: %s", error)

    @property
    def pending(self) -> Pending | None:
        """What awaits confirmation now."""
        return self._pending

    @property
    def left_s(self) -> float | None:
        """Seconds until the timer ends, at least 0; None when nothing awaits confirmation."""
        pending = self._pending
        return None if pending is None else max(0.0, pending.ends_boot_s - self._clock.boot_s())

    @property
    def expired(self) -> bool:
        """Whether the timer has ended."""
        return self.left_s == 0.0

    @property
    def expires_at_s(self) -> float | None:
        """When the timer ends in Unix time, by the machine's clock as it stands now."""
        left_s = self.left_s
        return None if left_s is None else self._clock.unix_s() + left_s

    def prepare(self, revision: int, rollback_to: int, confirm_s: float, reason: str) -> Pending:
        """Write the timer of a revision that is about to be recorded to disk, next to the current one.

        Until ``take`` the old one counts, also for an agent that starts in between. Raises OSError.
        """
        coming = self._in_this_boot(Pending(revision, rollback_to, confirm_s, reason))
        self._write(self._pending, coming)
        return coming

    def take(self, coming: Pending | None) -> None:
        """The revision was recorded: its timer counts from now on, or none does.

        The disk already says the same: nothing waits for this write, and a failure is only logged.
        """
        self._pending = coming
        try:
            if coming is not None:
                self._note(durable.write_whole)
            elif self._path.exists():
                durable.forget(self._path)
        except OSError as error:
            log.error("the confirm timer cannot be written: %s", error)

    def give_up(self) -> None:
        """The revision was not recorded: only the earlier timer stays. Raises nothing."""
        try:
            if self._pending is None:
                self.clear()
            else:
                self._note()
        except OSError as error:
            log.error("the confirm timer cannot be written: %s", error)

    def confirm(self) -> None:
        """Keep the revision that awaits confirmation. On OSError it still awaits it.

        The confirmation is noted separately, so that a timer that becomes unreadable later does not begin
        again.
        """
        pending = self._pending
        if pending is not None:
            note = {"revision": pending.revision}
            self._reserve.spend(lambda: durable.write_json(self._confirmed_path, note))
        self.clear()

    def was_confirmed(self, number: int) -> bool:
        """Whether this revision is the one that was confirmed last; False where that cannot be read."""
        try:
            revision = json.loads(self._confirmed_path.read_bytes())["revision"]
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return False
        return bool(revision == number)

    def clear(self) -> None:
        """Stop the timer, durably."""
        if self._path.exists():
            durable.remove(self._path)
        self._pending = None

    def note(self) -> None:
        """Note the time left when a note is due; call it often. Raises nothing."""
        with self.deciding:
            pending = self._pending
            if pending is None or self._clock.boot_s() - self._noted_s < pending.charge_s:
                return
            try:
                self._note()
            except OSError as error:
                log.error("what is left of the confirm timer cannot be noted: %s", error)

    @property
    def note_every_s(self) -> float | None:
        """How often ``note`` has to be called; None when nothing awaits confirmation."""
        return None if self._pending is None else self._pending.charge_s

    def _note(self, write: Write | None = None) -> None:
        assert self._pending is not None
        self._noted_s = self._clock.boot_s()
        self._write(self._pending, None, write)

    def _write(self, pending: Pending | None, coming: Pending | None, write: Write | None = None) -> None:
        text = durable.compact({"pending": self._to_json(pending), "next": self._to_json(coming)})
        self._reserve.spend(lambda: (write or durable.write)(self._path, text))

    def _to_json(self, pending: Pending | None) -> dict[str, Any] | None:
        if pending is None:
            return None
        left_s = pending.ends_boot_s - self._clock.boot_s() - pending.charge_s
        return asdict(replace(pending, left_s=max(0.0, left_s)))

    def _in_this_boot(self, pending: Pending) -> Pending:
        left_s = pending.confirm_s if pending.left_s is None else min(pending.left_s, pending.confirm_s)
        return replace(
            pending,
            boot_id=self._clock.boot_id,
            ends_boot_s=self._clock.boot_s() + left_s,
            left_s=left_s,
        )


def _kept(data: dict[str, Any]) -> list[Pending]:
    """The timers in a file: the current one, and that of the revision being recorded."""
    # A file of an earlier version holds a single timer.
    entries: list[dict[str, Any] | None] = [data] if "revision" in data else [data["pending"], data["next"]]
    return [Pending(**known_fields(Pending, entry)) for entry in entries if entry is not None]


def _of_record(head: Revision | None) -> list[Pending]:
    if head is None or not head.confirm_s:
        return []
    return [Pending(head.revision, head.base_revision, head.confirm_s)]
