"""The beginning of a watch: sessions and traffic before a commit, and the watch recorded with it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, NamedTuple

from appliance.config.document import RouterConfig
from appliance.engine.clock import Clock
from appliance.engine.records import CommitRequest, timestamp
from appliance.engine.reserve import Reserve
from appliance.engine.store import RevisionStore
from appliance.engine.watching import Observer, ServiceBefore, Watch, Watches
from appliance.errors import MillraceError
from appliance.state.watch import WatchReport


class Service(NamedTuple):
    """Sessions and traffic as read, and the revision they were read under."""

    before: Mapping[str, Any]
    revision: int


class _Ahead(NamedTuple):
    """A watch written while the steps of its commit are made."""

    service: Service
    written: Future[Watch]


class ReadingService(NamedTuple):
    """Reading what the watch of a commit compares with."""

    known: Service | None = None
    before: ServiceBefore | None = None
    revision: int = 0

    def begin(self) -> None:
        """Begin to read. Returns at once."""
        if self.before is not None:
            self.before.begin()

    def end(self, taken_down: frozenset[str]) -> Service | None:
        """What is compared with, told what the steps take down; None where nobody watches."""
        return self.known if self.before is None else Service(self.before.end(taken_down), self.revision)


class WatchedCommits:
    """The watches of the commits of one router. ``observer`` is None while nobody compares them."""

    def __init__(self, state_dir: Path, clock: Clock, reserve: Reserve, store: RevisionStore) -> None:
        self.watches = Watches(state_dir, clock, reserve)
        self.observer: Observer | None = None
        self._clock, self._store = clock, store
        self._ahead: _Ahead | None = None

    def ahead(self, request: CommitRequest, before: RouterConfig) -> None:
        """Begin the readings for which ``reading`` would wait longest."""
        if request.options.watched and self.observer is not None:
            self.observer.ahead(before)

    def reading(
        self, request: CommitRequest, running: int, before: RouterConfig, after: RouterConfig, digest: str
    ) -> ReadingService:
        """What the watch of a commit over revision ``running`` compares with. Foretelling the commit begins
        now."""
        if not request.options.watched:
            return ReadingService()
        # If the running revision may itself be rolled back, compare with the revision before it.
        known = None if request.options.rolls_back else self.known(running, digest)
        if known is not None or self.observer is None:
            return ReadingService(known)
        return ReadingService(None, self.observer.look(before, after, request.caller), running)

    def known(self, running: int, digest: str) -> Service | None:
        """For a rollback: the reading before the commit that is rolled back, so that the watch says whether
        service is as it was then."""
        watch = self.watches.current
        if watch is None or watch.revision != running or not watch.before:
            return None
        try:
            is_back = self._store.get(watch.compared_with).digest == digest
        except MillraceError:
            return None
        # The findings were foretold for the commit, not for the rollback.
        before = {**watch.before, "foretold": None}
        return Service(before, watch.compared_with) if is_back else None

    def write_ahead(
        self, disk: Executor, request: CommitRequest, revision: int, rollback_to: int, service: Service | None
    ) -> None:
        """Begin to write what ``prepare`` would, in a thread of ``disk``. Returns at once.

        A watch that rolls back is not written ahead: its revision waits until it is on the disk.
        """
        self._ahead = None
        if service is not None and not request.options.rolls_back:
            watch = self._watch(request, revision, rollback_to, service)
            self._ahead = _Ahead(service, disk.submit(self.watches.write_ahead, watch))

    def _written_ahead(self, revision: int, rollback_to: int, service: Service) -> Watch | None:
        ahead, self._ahead = self._ahead, None
        if ahead is None or ahead.service is not service or ahead.written.exception() is not None:
            return None
        watch = ahead.written.result()
        is_it = watch.revision == revision and watch.rollback_to == rollback_to
        return self.watches.put(watch) if is_it else None

    def _watch(self, request: CommitRequest, revision: int, rollback_to: int, service: Service) -> Watch:
        lasts_s, rolls_back = request.options.watched_for_s, request.options.rolls_back
        began = timestamp(self._clock.unix_s())
        return Watch(revision, service.revision, rollback_to, lasts_s, rolls_back, began, service.before)

    def prepare(
        self,
        request: CommitRequest,
        revision: int,
        rollback_to: int,
        service: Service | None,
        must_not_fail: bool,
    ) -> Watch | None:
        """Put the watch of a revision that is about to be recorded on disk. Raises OSError."""
        if service is None:
            return None
        if (ahead := self._written_ahead(revision, rollback_to, service)) is not None:
            return ahead
        try:
            return self.watches.prepare(self._watch(request, revision, rollback_to, service))
        except OSError:
            if must_not_fail:
                return None
            raise

    def begin(self) -> Watch | None:
        """Tell the observer of the watch of the revision that runs now."""
        if self.observer is not None:
            self.observer.begun()
        return self.watches.current

    def report(self, revision: int) -> dict[str, Any] | None:
        """What was seen after a commit so far; None if unknown. See state.watch."""
        return self.watches.report(revision) if self.observer is None else self.observer.report(revision)

    def rules(self) -> dict[str, str]:
        """For each comparison, when something counts as worse."""
        return {} if self.observer is None else self.observer.rules()

    def told(self) -> tuple[WatchReport, ...]:
        """What was seen recently, for alarms."""
        return () if self.observer is None else self.observer.told()

    def now(self) -> dict[str, Any] | None:
        """The report of the watch under way; None when there is none."""
        watch = self.watches.current
        if watch is None or watch.over:
            return None
        report = self.report(watch.revision) or watch.report("watching").model_dump(mode="json")
        # The report is as old as the last look; somebody may have called the rollback off since.
        left_s = round(self.watches.left_s(watch), 1)
        return {**report, "rolls_back": watch.rolls_back, "note": watch.note, "left_s": left_s}
