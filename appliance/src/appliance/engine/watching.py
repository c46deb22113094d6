"""What the engine keeps of the watch after a commit, and what it asks of whoever watches.

The watch of the revision that runs is one file: it goes on after the agent was killed, and after a reboot
begins anew with what was read before the commit. What was seen is a file for each revision.
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
from appliance.state.watch import WatchReport

log = logging.getLogger(__name__)

KEPT = 300
"""Reports that are kept; the oldest go first."""
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Watch:
    """The watch of a revision."""

    revision: int
    compared_with: int
    """The revision that is compared with."""
    rollback_to: int
    """The one before it that needs no confirmation."""
    watch_s: float
    rolls_back: bool
    began: str
    before: Mapping[str, Any] = field(default_factory=dict)
    """What was read before the commit, as the observer wrote it."""
    boot_id: str = ""
    ends_boot_s: float = 0.0
    condemned: str = ""
    """Why it is to be rolled back; empty while it is not."""
    note: str = ""
    """By whom its rollback was called off."""
    over: bool = False


class ServiceBefore(Protocol):
    """Service right before the steps of a commit, and what is foretold of them. Nothing of it raises."""

    def begin(self) -> None:
        """Begin to read sessions and traffic. Returns at once."""

    def end(self, taken_down: frozenset[str]) -> Mapping[str, Any]:
        """What was read, and foretold of steps that take these interfaces down or away. It is quick."""


class Observer(Protocol):
    """Whoever compares sessions and traffic. Nothing of it raises."""

    def ahead(self, before: RouterConfig) -> None:
        """A commit over this document may come to ``look``: begin what takes longest. Returns at once."""

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
        """What it saw, as it stands; None where that is not known."""

    def rules(self) -> dict[str, str]:
        """When something counts as worse, by what is compared."""

    def told(self) -> tuple[WatchReport, ...]:
        """What it saw after the last commit, and after one that was rolled back for it; for an hour."""


class Watches:
    """The one watch that goes on, and the reports of all."""

    def __init__(self, state_dir: Path, clock: Clock, reserve: Reserve) -> None:
        self._path, self._reports = state_dir / "watch.json", state_dir / "watches"
        self._clock, self._reserve = clock, reserve
        self._guard = threading.RLock()
        self._current: Watch | None = None
        self.loaded = threading.Event()
        """Set once it is known whether a watch goes on."""
        make_own_folder(self._reports)
        self._kept: list[int] | None = None
        """The revisions of the reports on disk, once that was looked at."""

    def load(self, head: int) -> None:
        """Read the watch at start. One of another revision than ``head`` is over."""
        self._current = self._read(head)
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
        # What was down while the machine was has all its time to come back.
        return watch if watch.boot_id == self._clock.boot_id else self._in_this_boot(watch)

    @property
    def current(self) -> Watch | None:
        """The watch of the revision that runs, be it over or not."""
        return self._current

    @property
    def armed(self) -> Watch | None:
        """The watch that goes on and rolls back."""
        watch = self._current
        return watch if watch is not None and watch.rolls_back and not watch.over else None

    @property
    def condemned(self) -> Watch | None:
        """The watch whose revision is to be rolled back now."""
        watch = self._current
        return watch if watch is not None and watch.condemned else None

    def left_s(self, watch: Watch) -> float:
        """Seconds until it ends, at least 0."""
        return max(0.0, watch.ends_boot_s - self._clock.boot_s())

    def prepare(self, watch: Watch) -> Watch:
        """Put the watch of a revision that is about to be recorded on disk, in place of the one before.

        Raises OSError.
        """
        coming = self._in_this_boot(watch)
        self._write(coming)
        return coming

    def take(self, coming: Watch | None) -> None:
        """The revision was recorded. None: it is not watched."""
        with self._guard:
            self._current = coming
        if coming is None:
            self._forget()

    def give_up(self) -> None:
        """The revision was not recorded: the watch that stood goes on."""
        with self._guard:
            standing = self._current
            if standing is None:
                self._forget()
            else:
                self._change(standing)

    def condemn(self, revision: int, why: str) -> bool:
        """Have the revision rolled back, unless that was called off, or another one runs by now."""
        with self._guard:
            watch = self.armed
            if watch is None or watch.revision != revision:
                return False
            self._change(replace(watch, condemned=why, over=True))
            return True

    def call_off(self, note: str) -> Watch | None:
        """Keep the revision, whatever the watch sees; None where nothing would go back by itself."""
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
        """What was seen after a commit; None where it was not watched or is no longer kept."""
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

        One that is not ``final`` does not wait for the disk, for which a commit may wait: a cut of power
        may lose it, and the service after that revision is then not known.
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
            # Nobody's rollback depends on it.
            durable.write_whole(self._path, text)

    def _forget(self) -> None:
        try:
            if self._path.exists():
                # One of another revision is over in any case.
                durable.forget(self._path)
        except OSError as error:
            log.error("the watch in %s cannot be removed: %s", self._path, error)

    def _in_this_boot(self, watch: Watch) -> Watch:
        ends_boot_s = self._clock.boot_s() + watch.watch_s
        return replace(watch, boot_id=self._clock.boot_id, ends_boot_s=ends_boot_s)
