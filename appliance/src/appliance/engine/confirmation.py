"""Commit-confirm: the timer on disk, so that it goes on while no agent runs.

The timer counts the time the machine is up, and nothing else: CLOCK_BOOTTIME within one boot, and after a
reboot what was left of it before. Setting the clock, up or down, does not move it. Time without power does
not count, since nobody could confirm then. What is left is noted every few seconds, and the seconds until the
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
"""The longest time between two notes of what is left."""
_CHARGES = 10
"""At most this part of the agreed time is lost to a power cut: one tenth."""


@dataclass(frozen=True)
class Pending:
    """A revision that goes back to ``rollback_to`` unless it is confirmed within ``confirm_s``."""

    revision: int
    rollback_to: int
    """The last confirmed revision."""
    confirm_s: float
    reason: str = ""
    """Why the timer was set without being asked for; empty when it was asked for."""
    boot_id: str = ""
    ends_boot_s: float = 0.0
    """When it ends in the boot ``boot_id``, by Clock.boot_s."""
    left_s: float | None = None
    """What a later boot grants; None when nothing was noted, which means all of it."""

    @property
    def charge_s(self) -> float:
        """How far ahead time is charged in the note."""
        return min(_CHARGE_S, self.confirm_s / _CHARGES)


class Confirmation:
    """The one revision that may await confirmation."""

    def __init__(self, state_dir: Path, clock: Clock, reserve: Reserve) -> None:
        self._path, self._confirmed_path = state_dir / "pending.json", state_dir / "confirmed.json"
        self._clock, self._reserve = clock, reserve
        self._pending: Pending | None = None
        self._noted_s = 0.0
        self.deciding = threading.RLock()
        """Held by whoever confirms, and while a revision that replaces the unconfirmed one is recorded."""

    def load(self, head: Revision | None) -> None:
        """Read the timer at start. ``head`` is the last recorded revision, None before the first.

        A timer of another revision is of a commit that was never recorded. One that cannot be read is that of
        ``head`` if that was committed with a timer: then all of its time begins again.
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
        """Whether the timer has run out."""
        return self.left_s == 0.0

    @property
    def expires_at_s(self) -> float | None:
        """When that will be in Unix time, as the machine's clock stands now."""
        left_s = self.left_s
        return None if left_s is None else self._clock.unix_s() + left_s

    def prepare(self, revision: int, rollback_to: int, confirm_s: float, reason: str) -> Pending:
        """Put the timer of a revision that is about to be recorded on disk, beside the one that stands.

        Until ``take`` the old one counts, also for an agent that starts meanwhile. Raises OSError.
        """
        coming = self._in_this_boot(Pending(revision, rollback_to, confirm_s, reason))
        self._write(self._pending, coming)
        return coming

    def take(self, coming: Pending | None) -> None:
        """The revision was recorded: its timer counts from now on, or none does.

        What is on disk tells the same already, so that nothing waits for it, and a failure is only logged.
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
        """The revision was not recorded: only the timer that stood before stays. Raises nothing."""
        try:
            if self._pending is None:
                self.clear()
            else:
                self._note()
        except OSError as error:
            log.error("the confirm timer cannot be written: %s", error)

    def confirm(self) -> None:
        """Keep the revision that awaits confirmation. Raises OSError: then it still awaits it.

        That it was confirmed is noted apart, so that a timer which cannot be read later does not begin anew.
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
        """Note what is left when that is due; call it often. Raises nothing."""
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
    """The timers in a file: the one that stands, and that of the revision that was being recorded."""
    # A file of an earlier version is one timer.
    entries: list[dict[str, Any] | None] = [data] if "revision" in data else [data["pending"], data["next"]]
    return [Pending(**known_fields(Pending, entry)) for entry in entries if entry is not None]


def _of_record(head: Revision | None) -> list[Pending]:
    if head is None or not head.confirm_s:
        return []
    return [Pending(head.revision, head.base_revision, head.confirm_s)]
