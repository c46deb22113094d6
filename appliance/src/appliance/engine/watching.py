"""What the engine keeps of the watch after a commit, and what it asks of the observer.

The watch of the running revision is one file: it goes on after the agent was killed, and after a reboot
begins anew with the reading from before the commit. The reports are one file per revision.
"""

from __future__ import annotations

import bisect
import json
import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from appliance.config.document import RouterConfig
from appliance.engine import durable
from appliance.engine.clock import Clock
from appliance.engine.known_fields import known_fields
from appliance.engine.objects import make_own_folder
from appliance.engine.own_path import Caller
from appliance.engine.reserve import Reserve
from appliance.state.watch import WatchReport, WatchState

log = logging.getLogger(__name__)

KEPT = 300
"""How many reports are kept; the oldest are removed first."""
_AHEAD_S = 0.5
"""The most that a watch written ahead may be early."""
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Watch:
    """The watch of a revision."""

    revision: int
    compared_with: int
    """The revision compared with."""
    rollback_to: int
    """The one before it that needs no confirmation."""
    watch_s: float
    rolls_back: bool
    began: str
    before: Mapping[str, Any] = field(default_factory=dict)
    """The reading before the commit, as the observer wrote it."""
    boot_id: str = ""
    ends_boot_s: float = 0.0
    condemned: str = ""
    """Why it is to be rolled back; empty while it is not."""
    note: str = ""
    """Who called its rollback off."""
    over: bool = False

    @property
    def began_boot_s(self) -> float:
        """When it began, by the clock of ``ends_boot_s``."""
        return self.ends_boot_s - self.watch_s

    def report(self, state: WatchState, **seen: Any) -> WatchReport:
        """What was seen, in the report's fields; nothing before the first look."""
        return WatchReport(
            revision=self.revision,
            state=state,
            rolls_back=self.rolls_back,
            watch_s=self.watch_s,
            began=self.began,
            compared_with=self.compared_with,
            rollback_to=self.rollback_to,
            **seen,
        )


class ServiceBefore(Protocol):
    """Observes service right before a commit's steps, and predicts their impact. Never raises."""

    def begin(self) -> None:
        """Begin to read sessions and traffic. Returns at once."""

    def end(self, taken_down: frozenset[str]) -> Mapping[str, Any]:
        """What was read, and foretold of steps that take these interfaces down or away. It is quick."""


class Observer(Protocol):
    """Compares sessions and traffic. No method raises."""

    def ahead(self, before: RouterConfig) -> None:
        """A commit over this document may soon call ``look``: begin what takes longest. Returns at once."""

    def look(
        self,
        before: RouterConfig,
        after: RouterConfig,
        caller: Caller | None,
    ) -> ServiceBefore:
        """Begin to foretell a commit from one document to the other. Returns at once."""

    def begun(self) -> None:
        """A watch began: see Watches.current."""

    def report(self, revision: int) -> dict[str, Any] | None:
        """What it has seen so far; None if unknown."""

    def rules(self) -> dict[str, str]:
        """For each comparison, when something counts as worse."""

    def told(self) -> tuple[WatchReport, ...]:
        """What it saw after the last commit, and after one rolled back because of it; for an hour."""


class Watches:
    """The one watch under way, and the reports of all."""

    def __init__(self, state_dir: Path, clock: Clock, reserve: Reserve) -> None:
        self._path, self._reports = state_dir / "watch.json", state_dir / "watches"
        self._next = state_dir / "watch-next.json"
        """Written before it is known whether its revision is recorded."""
        self._clock, self._reserve = clock, reserve
        self._guard = threading.RLock()
        self._current: Watch | None = None
        self.loaded = threading.Event()
        """Set once it is known whether a watch is under way."""
        make_own_folder(self._reports)
        self._kept: list[int] | None = None
        """The revisions of the reports on disk, once they were listed."""

    def load(self, head: int) -> None:
        """Read the watch at start. A watch of any revision but ``head`` is over."""
        self._current = self._read(head)
        self._forget(self._next)
        self.loaded.set()

    def _read(self, head: int) -> Watch | None:
        try:
            watch = Watch(**known_fields(Watch, json.loads(self._path.read_bytes())))
        except FileNotFoundError:
            return None
        except _UNREADABLE as error:
            log.error("the watch in %s cannot be read: %s", self._path, error)
            return None
        if watch.revision != head:
            return None
        # Whatever was down along with the machine gets the full time to come back.
        return watch if watch.boot_id == self._clock.boot_id else self._in_this_boot(watch)

    @property
    def current(self) -> Watch | None:
        """The watch of the running revision, whether over or not."""
        return self._current

    @property
    def armed(self) -> Watch | None:
        """The watch that is under way and may roll back."""
        watch = self._current
        return watch if watch is not None and watch.rolls_back and not watch.over else None

    @property
    def condemned(self) -> Watch | None:
        """The watch whose revision must be rolled back now."""
        watch = self._current
        return watch if watch is not None and watch.condemned else None

    def left_s(self, watch: Watch) -> float:
        """Seconds until it ends, at least 0."""
        return max(0.0, watch.ends_boot_s - self._clock.boot_s())

    def prepare(self, watch: Watch) -> Watch:
        """Write the watch of a revision that is about to be recorded to disk, in place of the one before.

        Raises OSError.
        """
        coming = self._in_this_boot(watch)
        self._write(coming)
        return coming

    def write_ahead(self, watch: Watch) -> Watch:
        """Write a watch that does not roll back next to that of the running revision, for ``put``. Raises
        OSError."""
        coming = self._in_this_boot(watch)
        durable.write_whole(self._next, durable.compact(vars(coming)))
        return coming

    def put(self, ahead: Watch) -> Watch | None:
        """As ``prepare``, of a watch written ahead; None if that was too long ago, or is gone."""
        if ahead.ends_boot_s + _AHEAD_S < self._clock.boot_s() + ahead.watch_s:
            return None
        try:
            durable.move(self._next, self._path)
        except OSError:
            return None
        return ahead

    def take(self, coming: Watch | None) -> None:
        """The revision was recorded. None: it is not watched."""
        with self._guard:
            self._current = coming
        if coming is None:
            # A watch of another revision is over in any case.
            self._forget(self._path)

    def give_up(self) -> None:
        """The revision was not recorded: the earlier watch goes on."""
        with self._guard:
            standing = self._current
            if standing is None:
                self._forget(self._path)
            else:
                self._change(standing)

    def condemn(self, revision: int, why: str) -> bool:
        """Have the revision rolled back, unless that was called off or another one already runs."""
        with self._guard:
            watch = self.armed
            if watch is None or watch.revision != revision:
                return False
            self._change(replace(watch, condemned=why, over=True))
            return True

    def call_off(self, note: str) -> Watch | None:
        """Keep the revision, whatever the watch sees; None if it would not be rolled back automatically."""
        with self._guard:
            watch = self.armed
            if watch is None:
                return None
            self._change(replace(watch, rolls_back=False, note=note))
            return self._current

    def end(self, revision: int) -> None:
        """The watch of this revision is over."""
        with self._guard:
            if self._current is not None and self._current.revision == revision and not self._current.over:
                self._change(replace(self._current, over=True))

    def report(self, revision: int) -> dict[str, Any] | None:
        """What was seen after a commit; None if it was not watched or the report is no longer kept."""
        try:
            found = json.loads(self._place(revision).read_bytes())
        except FileNotFoundError:
            return None
        except _UNREADABLE as error:
            log.error("the report of the watch of revision %s cannot be read: %s", revision, error)
            return None
        return found if isinstance(found, dict) else None

    def keep(self, revision: int, report: Mapping[str, Any], *, final: bool = True) -> None:
        """Write a report, and forget the oldest. Raises nothing.

        A report that is not ``final`` does not wait for the disk, so that no commit waits for it: a power cut
        may lose it, and then the service after that revision is unknown.
        """
        try:
            text = json.dumps(report, separators=(",", ":")).encode()
            (durable.write if final else durable.write_whole)(self._place(revision), text)
            self._forget_oldest(revision)
        except OSError as error:
            log.error("the report of the watch of revision %s cannot be written: %s", revision, error)

    def _forget_oldest(self, newest: int) -> None:
        if self._kept is None:
            paths = self._reports.glob("*.json")
            self._kept = sorted(int(path.stem) for path in paths if path.stem.isdecimal())
        at = bisect.bisect_left(self._kept, newest)
        if self._kept[at : at + 1] != [newest]:
            self._kept.insert(at, newest)
        for number in self._kept[:-KEPT]:
            self._place(number).unlink(missing_ok=True)
        del self._kept[:-KEPT]

    def _place(self, revision: int) -> Path:
        return self._reports / f"{revision:08}.json"

    def _change(self, watch: Watch) -> None:
        self._current = watch
        try:
            self._write(watch)
        except OSError as error:
            log.error("the watch of revision %s cannot be written: %s", watch.revision, error)

    def _write(self, watch: Watch) -> None:
        text = durable.compact(vars(watch))
        if watch.rolls_back:
            self._reserve.spend(lambda: durable.write(self._path, text))
        else:
            # No rollback depends on it.
            durable.write_whole(self._path, text)

    def _forget(self, path: Path) -> None:
        try:
            if path.exists():
                durable.forget(path)
        except OSError as error:
            log.error("the watch in %s cannot be removed: %s", path, error)

    def _in_this_boot(self, watch: Watch) -> Watch:
        ends_boot_s = self._clock.boot_s() + watch.watch_s
        return replace(watch, boot_id=self._clock.boot_id, ends_boot_s=ends_boot_s)
