"""The engine: validate, compile, observe, plan, journal, apply, verify, record; all of it or nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from appliance.config.capabilities import Capabilities
from appliance.config.document import RouterConfig
from appliance.config.dump import digest_of
from appliance.config.edit import Edit
from appliance.engine import damage
from appliance.engine.backend import SomeBackend
from appliance.engine.carrying_out import carry_out, refuse_while_others_decide
from appliance.engine.clock import Clock, SystemClock
from appliance.engine.committer import Committer, Compile
from appliance.engine.foretold import Foretell, nobody_looked
from appliance.engine.jobs import Jobs, fingerprint
from appliance.engine.keeper import Keeper
from appliance.engine.live import StepHook
from appliance.engine.objects import Damaged
from appliance.engine.outcomes import mark_of
from appliance.engine.own_path import Caller, OwnPath, nobody
from appliance.engine.recorded import recorded
from appliance.engine.records import (
    CommitRequest,
    CommitResult,
    Edited,
    Preview,
    Revision,
    timestamp,
)
from appliance.engine.reserve import Room
from appliance.engine.transaction import Patience
from appliance.engine.turns import Turns
from appliance.engine.view import Seen
from appliance.engine.watched_commits import WatchedCommits
from appliance.errors import (
    Conflict,
    MillraceError,
    NotFound,
    Problem,
    RouterUnavailable,
    ValidationFailed,
)
from appliance.state.commit_options import CommitOptions
from appliance.state.commits import CommitUnderWay
from appliance.state.configuration import RecordedRevision, RunningConfig
from appliance.state.health import PartHealth

log = logging.getLogger(__name__)


class Engine:
    """One router's document and its revisions. All methods are safe to call from any thread.

    ``backends`` go from the outermost (the data plane) to the innermost. ``compile`` maps a valid document to
    the desired state of each; it may look at the machine's NICs, and raise BackendUnavailable or
    ValidationFailed. ``step_hook`` is called after each applied step. ``own_path`` says when a commit must be
    confirmed by default, ``foretell`` what effects its result has.
    """

    def __init__(
        self,
        backends: Sequence[SomeBackend],
        compile: Compile,  # noqa: A002 - the stage's name
        capabilities: Callable[[], Capabilities],
        state_dir: Path,
        *,
        step_hook: StepHook | None = None,
        clock: Clock | None = None,
        patience: Patience | None = None,
        interval_s: float = 3.0,
        own_path: OwnPath = nobody,
        foretell: Foretell = nobody_looked,
    ) -> None:
        self._state_dir = state_dir
        self._committer = Committer(
            backends,
            compile,
            capabilities,
            state_dir,
            step_hook,
            clock or SystemClock(),
            patience or Patience(),
            own_path,
            foretell,
        )
        self._jobs = Jobs(state_dir)
        self._keeper = Keeper(self._committer, self._jobs, interval_s)

    def start(self) -> None:
        """Recover from whatever happened, then keep the router at the last commit until ``close``."""
        self._keeper.start()

    def recover(self) -> None:
        """The finite part of ``start``: see Keeper.recover."""
        self._keeper.recover()

    def tick(self) -> None:
        """Observe the router now; see Keeper.tick."""
        self._keeper.tick()

    def close(self) -> None:
        """Stop observing and release the threads. The router is left as it is."""
        self._keeper.stop()
        self._committer.close()

    # Reading: never waits for a writer.

    @property
    def revision(self) -> int:
        """Number of the running revision; 0 before the first commit."""
        return self._committer.running.revision

    @property
    def running_digest(self) -> str:
        """Of the running document."""
        return self._committer.running.prepared.digest

    @property
    def capabilities(self) -> Capabilities:
        """Of the data plane."""
        return self._committer.capabilities()

    @property
    def seen(self) -> Seen:
        """Drift and health as last observed."""
        return self._committer.view.seen

    def config(self) -> dict[str, Any]:
        """``revision``, ``digest`` and ``document`` that run; secrets sealed."""
        running = self._committer.running
        return {
            "revision": running.revision,
            "digest": running.prepared.digest,
            "document": running.prepared.sealed,
        }

    def running_document(self, known: str | None = None) -> RunningConfig:
        """The running document, left out when its digest is ``known``."""
        running = self._committer.running
        return RunningConfig.model_construct(
            revision=running.revision,
            digest=running.prepared.digest,
            size_bytes=sum(map(len, running.prepared.texts.values())),
            document=None if known == running.prepared.digest else running.prepared.sealed,
        )

    def digest_of(self, document: Mapping[str, Any]) -> str | None:
        """Digest of a canonical document, whose texts the next reading takes; None if it is not JSON."""
        texts = self._committer.documents.texts(document, self._committer.running.prepared)
        return None if texts is None else digest_of(texts)

    def pending_confirm(self) -> dict[str, Any] | None:
        """What awaits confirmation, or None.

        ``revision``, ``rollback_to``, ``expires_at`` (by the machine's clock as it stands), ``seconds_left``
        and ``reason``, which is empty when the timer was requested.
        """
        confirmation = self._committer.confirmation
        pending, left_s, ends_at_s = confirmation.pending, confirmation.left_s, confirmation.expires_at_s
        if pending is None or left_s is None or ends_at_s is None:
            return None
        return {
            "revision": pending.revision,
            "rollback_to": pending.rollback_to,
            "expires_at": timestamp(ends_at_s),
            "seconds_left": round(left_s, 1),
            "reason": pending.reason,
        }

    @property
    def watched(self) -> WatchedCommits:
        """The watch after the last commit, the reports of earlier ones, and the observer."""
        return self._committer.watched

    @property
    def foretell(self) -> Foretell:
        """Foretells the result of a commit."""
        return self._committer.foretell

    def keep(self, author: str) -> int:
        """Keep the revision that its watch would roll back, whatever the watch sees; returns its number.

        Raises Conflict when there is none.
        """
        watch = self._committer.watches.call_off(f"{author} called the rollback off")
        if watch is None:
            raise Conflict("no revision is watched for an automatic rollback")
        log.info("%s keeps revision %s, whatever its watch sees", author, watch.revision)
        return watch.revision

    def damage(self) -> list[str]:
        """A sentence for each unreadable part of the recorded state; the running revision's first."""
        return [*self._damage_of_what_runs(), *self._damage_of_history()]

    def health(self) -> dict[str, dict[str, str]]:
        """Health as last observed, and ``revisions``: whether the last committed revision is running."""
        return {
            **{name: dict(entry) for name, entry in self.seen.health.items()},
            "revisions": self.history_health().model_dump(include={"state", "detail"}),
        }

    def history_health(self) -> PartHealth:
        """Whether the last committed revision is the running one."""
        told = self._damage_of_what_runs()
        return PartHealth(
            state="damaged" if told else "up", detail="; ".join(told) or "intact", label="Revisions"
        )

    @property
    def running_config(self) -> RouterConfig:
        """The document that runs."""
        return self._committer.running.prepared.config

    @property
    def state_dir(self) -> Path:
        """Where the agent keeps state that has to outlive it."""
        return self._state_dir

    def room(self) -> Room:
        """Space on the disk that holds the router's revisions."""
        return self._committer.reserve.room()

    def storage(self) -> dict[str, dict[str, int]]:
        """``used_bytes``, ``quota_bytes`` and a count of each kind of what is kept."""
        committer = self._committer
        return {
            "revisions": committer.store.usage,
            "results": self._jobs.usage,
            "reserve": committer.reserve.usage,
        }

    def _damage_of_what_runs(self) -> list[str]:
        committer = self._committer
        store, running = committer.store, committer.running.revision
        return damage.concerning_what_runs(store.head, running, dict(store.damage), committer.shut_secrets())

    def _damage_of_history(self) -> list[str]:
        store = self._committer.store
        return damage.of_history(store.head, self.revision, dict(store.damage))

    def revisions(self, limit: int, before: int | None = None) -> list[Revision]:
        """At most ``limit`` revisions older than ``before``, newest first."""
        return self._committer.store.newest(limit, before)

    def document_of(self, number: int) -> dict[str, Any]:
        """The document of a revision, secrets sealed. Raises NotFound."""
        return self._committer.store.document(number)

    def revision_details(self, number: int) -> dict[str, Any]:
        """A revision with its ``document`` (sealed), ``plan`` and ``diff``. Raises NotFound."""
        store = self._committer.store
        revision, document = store.get(number).to_json(), store.document(number)
        whole = {
            **revision,
            "document": document,
            "reopened": self._reopened(revision["request_id"]),
            "watch": self.watched.report(number),
        }
        try:
            return {**whole, **store.details(number)}
        except Damaged as error:
            return {**whole, "plan": [], "diff": [], "damage": str(error)}

    def _reopened(self, request_id: str) -> list[str]:
        """What the commit set up again; empty when its result is no longer kept."""
        try:
            return list(self._jobs.get(request_id).reopened)
        except MillraceError:
            return []

    def job(self, request_id: str) -> CommitResult:
        """The outcome of a request. Raises NotFound."""
        return self._jobs.get(request_id)

    def seal(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """See Documents.seal; the base is the running document."""
        return self._committer.documents.seal(document, self._committer.running.prepared.sealed)

    def validate(self, document: Mapping[str, Any]) -> list[Problem]:
        """Everything that would refuse a commit of this document before the router is observed."""
        try:
            self._committer.prepare(document)
        except ValidationFailed as failed:
            return list(failed.problems)
        return []

    def edited(self, edit: Edit) -> Edited:
        """The running document after an edit. Raises NotFound, or ValidationFailed where it does not read."""
        return self._committer.edited(edit)

    def recorded(self, result: CommitResult) -> RecordedRevision | None:
        """The revision that a commit made; None if it made none."""
        return recorded(self._committer.store, result)

    def preview(self, document: Mapping[str, Any], caller: Caller | None = None) -> Preview:
        """What a commit by ``caller`` would do. Raises ValidationFailed or BackendUnavailable."""
        return self._committer.preview(document, caller)

    @property
    def turns(self) -> Turns:
        """The commit that runs, and those that wait for their turn."""
        return self._committer.turns

    # Writing: one at a time, each with a result that can be retrieved.

    def commit(self, request: CommitRequest) -> CommitResult:
        """Make a document the running one. Failures of the request are in ``result.error``, not raised.

        Repeating a request returns its first result. Raises Conflict when its id was used for another
        request, ValidationFailed when it is not an id.
        """
        mark = self._mark_of(request)
        run = partial(self._commit, replace(request, mark=mark))
        return carry_out(self._jobs, self._committer, request.options.request_id, mark, run)

    def result_of(self, request: CommitRequest) -> CommitResult | None:
        """What ``commit`` would return without beginning anything; None for a request not seen before."""
        return self._jobs.seen(request.options.request_id, partial(self._mark_of, request))

    def _mark_of(self, request: CommitRequest) -> str:
        committer = self._committer
        if request.edit is not None:
            return mark_of(request)
        return mark_of(request, committer.documents.texts(request.document, committer.running.prepared))

    def rollback(self, revision: int, options: CommitOptions) -> CommitResult:
        """Commit the document of an earlier revision; 0 is the empty one. Otherwise as ``commit``.

        While a revision awaits confirmation its timer stands until this one is recorded.
        """
        wanted = options.with_comment(f"Roll back to revision {revision}")
        mark = fingerprint("rollback", revision, options.author, options.comment, *options.timers)

        def run() -> CommitResult:
            turn = self._committer.turn(options.request_id, "rollback", options.author, wanted.comment)
            with self._committer.turns.taking(turn):
                document = self._committer.store.document(revision)
                request = CommitRequest(document, wanted, mark=mark)
                return self._committer.transact(request, turn, supersede=True)

        return carry_out(self._jobs, self._committer, options.request_id, mark, run, must_not_fail=True)

    def confirm(self, author: str) -> int:
        """Keep the revision that awaits confirmation; returns its number. Raises Conflict when none does.

        Waits neither for a commit nor for an observation of the router.
        """
        confirmation = self._committer.confirmation
        with confirmation.deciding:
            pending = confirmation.pending
            if pending is None:
                raise Conflict("no revision awaits confirmation")
            if confirmation.expired:
                raise Conflict(f"revision {pending.revision} was not confirmed in time and is rolled back")
            try:
                confirmation.confirm()
            except OSError as error:
                raise RouterUnavailable(f"the confirmation cannot be written: {error.strerror}") from error
        log.info("revision %s confirmed by %s", pending.revision, author)
        return pending.revision

    def cancel(self, request_id: str, author: str) -> CommitUnderWay:
        """Cancel a commit that waits or runs, in its author's name, and undo it; returns its state then.

        Raises Conflict when it is over or can no longer be cancelled, NotFound when there is none.
        """
        try:
            stopping = self._committer.turns.cancel(request_id, author)
        except NotFound:
            if self._jobs.get(request_id).state == "running":
                raise
            raise Conflict(f"commit {request_id} is over and can no longer be cancelled") from None
        log.info("%s cancelled the %s of %s", author, stopping.kind, stopping.author)
        return stopping

    def _commit(self, request: CommitRequest) -> CommitResult:
        options = request.options
        turn = self._committer.turn(options.request_id, "commit", options.author, options.comment)
        with self._committer.turns.taking(turn):
            refuse_while_others_decide(self._committer, request.base_revision)
            return self._committer.transact(request, turn)
