"""Recording a revision, with its confirm timer and its watch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

from appliance.config.diff import diff_documents
from appliance.engine.clock import Clock
from appliance.engine.confirmation import Confirmation
from appliance.engine.documents import Prepared
from appliance.engine.records import CommitRequest, PlannedStep, Revision, impacts, timestamp
from appliance.engine.reserve import Reserve
from appliance.engine.store import RevisionStore
from appliance.engine.watched_commits import Service, WatchedCommits


@dataclass(frozen=True)
class Running:
    """The last recorded revision."""

    revision: int
    prepared: Prepared


class _Early(NamedTuple):
    """The files written while the steps are applied, and their revision."""

    base: Running
    prepared: Prepared
    steps: tuple[PlannedStep, ...]
    details: Future[str]


class Recorder:
    """Writes the revisions of one router. Used by the thread that holds the turn."""

    def __init__(
        self,
        store: RevisionStore,
        confirmation: Confirmation,
        watched: WatchedCommits,
        reserve: Reserve,
        clock: Clock,
    ) -> None:
        self._store, self._confirmation, self._watched = store, confirmation, watched
        self._reserve, self._clock = reserve, clock
        self._early: _Early | None = None

    def begin(self, disk: Executor, base: Running, prepared: Prepared, steps: Sequence[PlannedStep]) -> None:
        """Begin to write what the revision will refer to, in a thread of ``disk``. Returns at once.

        The steps take longer than writing these files. If the revision is never recorded, nothing refers to
        them, and they are removed as other unused ones are.
        """
        made = tuple(steps)

        def write() -> str:
            self._store.put_document(prepared.digest, prepared.sealed)
            details = self._store.put(_details(base, prepared, made))
            self._store.sync()
            return details

        self._early = _Early(base, prepared, made, disk.submit(write))

    def begin_watch(
        self, disk: Executor, request: CommitRequest, base: Running, service: Service | None
    ) -> None:
        """The same for its watch, should it be recorded."""
        revision, confirmed = self._store.head + 1, self._confirmed(base)
        self._watched.write_ahead(disk, request, revision, confirmed, service)

    def _confirmed(self, base: Running) -> int:
        """The revision below the next one that needs no confirmation."""
        standing = self._confirmation.pending
        return base.revision if standing is None else standing.rollback_to

    def record(
        self,
        request: CommitRequest,
        base: Running,
        prepared: Prepared,
        applied: Sequence[PlannedStep],
        must_not_fail: bool,
        confirm_reason: str = "",
        service: Service | None = None,
    ) -> None:
        """Write the confirm timer and the watch, then revision N+1. On OSError nothing is recorded.

        ``must_not_fail``: the agent's reserve may be spent, and plan and difference are left out if there is
        no room for them. ``service`` is the reading before the commit; None: it is not watched.
        """
        head, options = self._store.head, request.options
        revision = Revision(
            revision=head + 1,
            digest=prepared.digest,
            author=options.author,
            comment=options.comment,
            time=timestamp(self._clock.unix_s()),
            impact="; ".join(impacts(applied)) or "none",
            steps_count=len(applied),
            result="done",
            base_revision=base.revision,
            request_id=options.request_id,
            confirm_s=options.confirm_s,
            details=self._put(base, prepared, applied, must_not_fail),
        )

        def append() -> None:
            self._store.append(revision, prepared.sealed, request.mark)

        confirmation, watches = self._confirmation, self._watched.watches
        with confirmation.deciding:
            confirmed = self._confirmed(base)
            try:
                watch = self._watched.prepare(request, head + 1, confirmed, service, must_not_fail)
                coming = None
                if options.confirm_s is not None:
                    coming = confirmation.prepare(head + 1, confirmed, options.confirm_s, confirm_reason)
                if must_not_fail:
                    self._reserve.spend(append)
                else:
                    append()
            except OSError:
                confirmation.give_up()
                watches.give_up()
                raise
            confirmation.take(coming)
            watches.take(watch)

    def _put(
        self, base: Running, prepared: Prepared, applied: Sequence[PlannedStep], must_not_fail: bool
    ) -> str:
        """Write plan and difference; returns where they are."""
        early, self._early = self._early, None
        if early is not None:
            wait([early.details])
            is_it = early.base is base and early.prepared is prepared and early.steps == tuple(applied)
            if is_it and early.details.exception() is None:
                return early.details.result()
        shown = _details(base, prepared, applied)
        if not must_not_fail:
            return self._store.put(shown)
        try:
            return self._reserve.spend(lambda: self._store.put(shown))
        except OSError:
            return self._store.put({"plan": [], "diff": []})


def _details(base: Running, prepared: Prepared, steps: Sequence[PlannedStep]) -> Mapping[str, Any]:
    changes = diff_documents(base.prepared.sealed, prepared.sealed)
    # Not ``asdict``, which copies everything: there may be ten thousand changes.
    return {"plan": [one.to_json() for one in steps], "diff": [vars(change) for change in changes]}
