"""Beginning a watch: sessions and traffic before a commit, and the watch that is recorded with it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from appliance.config.document import RouterConfig
from appliance.engine.clock import Clock
from appliance.engine.records import CommitRequest, timestamp
from appliance.engine.reserve import Reserve
from appliance.engine.store import RevisionStore
from appliance.engine.watching import Observer, ServiceBefore, Watch, Watches
from appliance.errors import MillraceError
from appliance.state.watch import DEFAULT_WATCH_S, WatchReport


class Service(NamedTuple):
    """What sessions and traffic were, and under which revision."""

    before: Mapping[str, Any]
    revision: int


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

    def ahead(self, request: CommitRequest, before: RouterConfig) -> None:
        """Begin what ``reading`` would wait for longest."""
        if request.watch_s != 0 and self.observer is not None:
            self.observer.ahead(before)

    def reading(
        self, request: CommitRequest, running: int, before: RouterConfig, after: RouterConfig, digest: str
    ) -> ReadingService:
        """What the watch of a commit over revision ``running`` compares with. The commit is foretold from now
        on."""
        if request.watch_s == 0:
            return ReadingService()
        # One that may itself be rolled back is compared with what it replaces.
        known = None if request.watch_s else self.known(running, digest)
        if known is not None or self.observer is None:
            return ReadingService(known)
        return ReadingService(None, self.observer.look(before, after, request.caller), running)

    def known(self, running: int, digest: str) -> Service | None:
        """Of a way back: what was read before the commit that is taken back, so that the watch says whether
        service is as it was then."""
        watch = self.watches.current
        if watch is None or watch.revision != running or not watch.before:
            return None
        try:
            is_back = self._store.get(watch.compared_with).digest == digest
        except MillraceError:
            return None
        # What was foretold was foretold of the commit, and not of the way back.
        before = {**watch.before, "foretold": None}
        return Service(before, watch.compared_with) if is_back else None

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
        watch_s, rolls_back = request.watch_s or DEFAULT_WATCH_S, bool(request.watch_s)
        began = timestamp(self._clock.unix_s())
        watch = Watch(revision, service.revision, rollback_to, watch_s, rolls_back, began, service.before)
        try:
            return self.watches.prepare(watch)
        except OSError:
            if must_not_fail:
                return None
            raise

    def begin(self) -> Watch | None:
        """Let the observer know of the watch of the revision that runs now."""
        if self.observer is not None:
            self.observer.begun()
        return self.watches.current

    def report(self, revision: int) -> dict[str, Any] | None:
        """What was seen after a commit, as it stands; None where that is not known. See state.watch."""
        return self.watches.report(revision) if self.observer is None else self.observer.report(revision)

    def rules(self) -> dict[str, str]:
        """When something counts as worse, by what is compared."""
        return {} if self.observer is None else self.observer.rules()

    @staticmethod
    def _unseen(watch: Watch) -> dict[str, Any]:
        """Its report before the first look."""
        return WatchReport(
            revision=watch.revision,
            state="watching",
            rolls_back=watch.rolls_back,
            watch_s=watch.watch_s,
            began=watch.began,
            compared_with=watch.compared_with,
            rollback_to=watch.rollback_to,
        ).model_dump(mode="json")

    def told(self) -> tuple[WatchReport, ...]:
        """What was seen lately, for alarms."""
        return () if self.observer is None else self.observer.told()

    def now(self) -> dict[str, Any] | None:
        """The report of the watch that goes on; None when none does."""
        watch = self.watches.current
        if watch is None or watch.over:
            return None
        report = self.report(watch.revision) or self._unseen(watch)
        # The report is as old as the last look, and somebody may have called the rollback off since.
        left_s = round(self.watches.left_s(watch), 1)
        return {**report, "rolls_back": watch.rolls_back, "note": watch.note, "left_s": left_s}
