"""From a request to a recorded revision: every part of a commit that needs the turn."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from appliance.config.capabilities import Capabilities
from appliance.config.diff import diff_documents
from appliance.config.document import RouterConfig
from appliance.config.edit import Edit
from appliance.config.validate import require_valid
from appliance.engine import durable
from appliance.engine.backend import SomeBackend
from appliance.engine.clock import Clock
from appliance.engine.confirmation import Confirmation
from appliance.engine.documents import Documents, Prepared, text_at
from appliance.engine.foretold import Foretell, nobody_looked, taken_down
from appliance.engine.journal import Journal
from appliance.engine.live import Desired, Live, Observed, Overtaken, Plan, StepHook
from appliance.engine.own_path import DEFAULT_CONFIRM_S, Caller, OwnPath, nobody
from appliance.engine.recording import Recorder, Running
from appliance.engine.records import CommitRequest, CommitResult, Edited, Preview, timestamp
from appliance.engine.reopening import Reopening, Reopenings
from appliance.engine.reserve import Reserve, is_full
from appliance.engine.store import RevisionStore
from appliance.engine.transaction import Patience, Transaction
from appliance.engine.turns import Kind, Turn, Turns
from appliance.engine.view import View
from appliance.engine.watched_commits import ReadingService, Service, WatchedCommits
from appliance.errors import CommitFailed, Conflict, MillraceError
from appliance.secrets import SecretBox

log = logging.getLogger(__name__)

Compile = Callable[[RouterConfig], Desired]


class Committer:
    """The running document, the live router and what is on disk; see Engine for the arguments."""

    def __init__(
        self,
        backends: Sequence[SomeBackend],
        compile: Compile,  # noqa: A002 - the stage's name
        capabilities: Callable[[], Capabilities],
        state_dir: Path,
        step_hook: StepHook | None,
        clock: Clock,
        patience: Patience,
        own_path: OwnPath = nobody,
        foretell: Foretell = nobody_looked,
    ) -> None:
        durable.make_folder(state_dir, 0o700)
        self.live = Live(backends, step_hook)
        self.view = View(self.live)
        self.compile = compile
        self.capabilities = capabilities
        self.clock = clock
        self.patience = patience
        self.documents = Documents(SecretBox.open(state_dir))
        self.store = RevisionStore(state_dir)
        self.journal = Journal(state_dir)
        self.reserve = Reserve(state_dir)
        self.confirmation = Confirmation(state_dir, clock, self.reserve)
        self.watched = WatchedCommits(state_dir, clock, self.reserve, self.store)
        self.watches = self.watched.watches
        self.recorder = Recorder(self.store, self.confirmation, self.watched, self.reserve, clock)
        self.own_path = own_path
        self.foretell = foretell
        self.restore_due = False
        """A transaction was left open, or a rollback is under way: the router may be anywhere between two
        revisions."""
        self.unrecorded = ""
        """Why the rollback that now runs could not be recorded; empty when it was recorded."""
        self.untold = True
        """Not every backend has written its program's boot files for the running revision yet."""
        self.reopenings = Reopenings(state_dir, self.reserve)
        self.reopening: Reopening | None = None
        """What to set up again once the router has reached the state a rollback leads to."""
        self._failures: tuple[str, ...] = ()
        self.turns = Turns()
        """Held by the thread that changes the router or the running revision."""
        # Files that programs read at their next boot may be written after the caller has its answer.
        self._after = ThreadPoolExecutor(1, thread_name_prefix="after-commit")
        self.disk = ThreadPoolExecutor(2, thread_name_prefix="disk")
        """The journal and the objects of a revision are written concurrently, while the router is queried."""
        self._checked: tuple[Prepared, Capabilities] | None = None
        """The last document that the check found valid."""
        self._edit: tuple[Mapping[str, Any], Prepared, Prepared] | None = None
        """The document the last edit made, what it was made from, and the result of reading it."""
        number, prepared = self.store.newest_whole(
            self.documents.read, confirmed=self.confirmation.was_confirmed
        )
        self.running = Running(number, prepared)
        self._lost_secrets = prepared.lost

    def turn(self, request_id: str, kind: Kind, author: str, comment: str = "") -> Turn:
        """A place in the queue; ``turns`` takes it."""
        return Turn(request_id, kind, author, comment, self.clock)

    def shut_secrets(self) -> list[str]:
        """Pointers to secrets that the key does not open; the router lacks them until they are set again."""
        lost, sealed = self._lost_secrets, self.running.prepared.sealed
        return [pointer for pointer, text in lost.items() if text_at(sealed, pointer) == text]

    def check_history(self) -> None:
        """Begin to read the newest revisions, so that damage is found before they are needed."""
        self._after.submit(self.store.check_newest)

    def prepare(self, document: Mapping[str, Any]) -> Prepared:
        """Read, seal and check a document against the running one. Raises ValidationFailed."""
        prepared, capabilities = self._read(document, self.running.prepared), self.capabilities()
        checked = self._checked
        if checked is None or checked[0] is not prepared or checked[1] != capabilities:
            require_valid(prepared.config, capabilities)
            self._checked = (prepared, capabilities)
        return prepared

    def _read(self, document: Mapping[str, Any], base: Prepared) -> Prepared:
        """The document as Documents reads it. One that an edit made, and nobody else holds, is not read
        twice."""
        edit = self._edit
        if edit is not None and edit[0] is document and edit[1] is base:
            return edit[2]
        return self.documents.prepare(document, base)

    def edited(self, edit: Edit) -> Edited:
        """The running document after an edit. Raises NotFound, or ValidationFailed where it does not read."""
        running = self.running
        document = edit.applied(running.prepared.sealed)
        prepared = self.documents.prepare(document, running.prepared)
        self._edit = (document, running.prepared, prepared)
        changes = diff_documents(running.prepared.sealed, prepared.sealed)
        return Edited(running.revision, running.prepared.digest, document, tuple(changes))

    def compile_running(self) -> Desired:
        """Desired state of the last recorded revision."""
        return self.compile(self.running.prepared.config)

    def proceed(self) -> None:
        """Raise Overtaken when the confirm timer has ended: the router rolls back, whatever is under way."""
        pending = self.confirmation.pending
        if pending is not None and self.confirmation.expired and not self.unrecorded:
            raise Overtaken(
                f"revision {pending.revision} was not confirmed in time, and the router goes back to "
                f"revision {pending.rollback_to}"
            )

    def preview(self, document: Mapping[str, Any], caller: Caller | None = None) -> Preview:
        """What a commit of ``document`` would do now. Does not wait for the turn."""
        running = self.running
        with self.view.looking() as outcome:
            prepared = self.prepare(document)
            desired = self.compile(prepared.config)

            @cache
            def planned() -> tuple[Observed, Plan]:
                observed = outcome()
                return observed, self.live.plan(desired, observed)

            # This runs while other threads observe the router. Obstacles to a plan are raised below.
            foretold = self.foretell(
                running.prepared.config, prepared.config, caller, partial(_taken_down, planned)
            )
            observed, plan = planned()
        return Preview(
            running.revision,
            tuple(diff_documents(running.prepared.sealed, prepared.sealed)),
            plan,
            self.live.diff(plan, desired, observed),
            self._own_path(caller, plan, running.prepared, prepared),
            foretold,
        )

    def transact(self, request: CommitRequest, turn: Turn, supersede: bool = False) -> CommitResult:
        """Commit while holding the turn. ``supersede``: even if a revision awaits confirmation.

        Raises ValidationFailed, BackendUnavailable, StorageFull, Conflict, Cancelled or CommitFailed; then
        nothing is changed.
        """
        options, request_id = request.options, request.options.request_id
        if supersede:
            self.reserve.make_room()
        with self.view.moving:
            desired, prepared, observed, service_before = self._look_and_compile(request, turn)
            plan = self.live.plan(desired, observed)
            whole = self.running.revision == self.store.head
            if not plan and prepared.digest == self.running.prepared.digest and whole:
                # A rollback to the running revision keeps it, unless it has to be confirmed again.
                if supersede and not options.confirm_s:
                    self.confirmation.confirm()
                return CommitResult(request_id, "done", self.running.revision)
            if not supersede:
                self.reserve.require_room(_room_for(prepared))
            reasons = (
                ()
                if options.confirm_s is not None
                else self._own_path(request.caller, plan, self.running.prepared, prepared)
            )
            options = options.confirmed_within((DEFAULT_CONFIRM_S if reasons else options.confirm_s) or None)
            request = replace(request, options=options)
            transaction = Transaction(
                self.live,
                self.journal,
                self.disk,
                self.reserve,
                self.patience,
                plan,
                desired,
                observed,
                self.compile_running,
                turn,
                self.proceed,
                must_not_fail=supersede,
            )

            service: Service | None = None
            reopening = Reopening(self.running.prepared.config, self.running.revision, request_id)

            def meanwhile() -> None:
                nonlocal service
                if not supersede:
                    self.recorder.begin(self.disk, self.running, prepared, plan)
                service = service_before.end(taken_down(plan))
                if not supersede:
                    self.recorder.begin_watch(self.disk, request, self.running, service)

            def record() -> None:
                self.note_reopening(reopening, prepared.config)
                self.recorder.record(
                    request,
                    self.running,
                    prepared,
                    transaction.applied,
                    supersede,
                    "; ".join(reasons),
                    service,
                )

            try:
                transaction.run(self.running.revision, request, meanwhile, record)
            except CommitFailed as failed:
                self.restore_due = self.restore_due or not failed.undone
                cause = failed.__cause__
                if isinstance(cause, OSError) and is_full(cause) and failed.undone:
                    raise self.reserve.refusal(cause) from cause
                raise
            self.running = Running(self.store.head, prepared)
            self.restore_due = False
            self.view.keep(transaction.after)
            self.view.as_it_should_be(transaction.after)
            self.view.publish((), transaction.after)
        reopened = self.reopen(reopening)
        watch = self.watched.begin()
        self.tell_committed(desired)
        self.disk.submit(self.store.note_head)
        self._after.submit(self._prune)
        steps = tuple(planned.to_json() for planned in transaction.applied)
        log.info("revision %s committed by %s in %s steps", self.running.revision, options.author, len(steps))
        ends_at_s = self.confirmation.expires_at_s if options.confirm_s else None
        return CommitResult(
            request_id,
            "done",
            self.running.revision,
            steps,
            confirm_expires_at=None if ends_at_s is None else timestamp(ends_at_s),
            confirm_reason="; ".join(reasons),
            reopened=reopened,
        ).watched_by(watch)

    def reopen(self, due: Reopening) -> tuple[str, ...]:
        """Set up again what the document before kept closed, or that of a rollback it overtook."""
        before = self.reopening.before if self.reopening is not None else due.before
        said = tuple(self.live.reopen(before, self.running.prepared.config))
        self.reopening = None
        self.reopenings.done()
        return said

    def note_reopening(self, due: Reopening, after: RouterConfig) -> None:
        """Note what, if anything, has to be set up again once a revision with the document `after` runs."""
        due = self.reopening or due
        if self.live.may_reopen(due.before, after):
            self.reopenings.note(due)

    def tell_committed(self, desired: Desired) -> None:
        """Have the backends write their programs' boot files. Returns at once."""
        self.untold = False
        self._after.submit(self._tell, desired)

    def _tell(self, desired: Desired) -> None:
        failures = tuple(self.live.committed(desired))
        for failure in failures if failures != self._failures else ():
            log.warning("after the commit: %s", failure)
        self._failures, self.untold = failures, self.untold or bool(failures)

    def _prune(self) -> None:
        pending = self.confirmation.pending
        needed = {self.running.revision} | ({pending.rollback_to, pending.revision} if pending else set())
        try:
            self.store.prune(needed)
        except OSError as error:
            log.warning("old revisions cannot be forgotten: %s", error)

    def close(self) -> None:
        """Finish the work begun, and release the threads."""
        self._after.shutdown(wait=True)
        self.disk.shutdown(wait=True)
        self.live.close()

    def _own_path(
        self, caller: Caller | None, plan: Plan, before: Prepared, after: Prepared
    ) -> tuple[str, ...]:
        """How the plan touches the caller's path to the router; empty when it does not."""
        if caller is None or not plan:
            return ()
        return self.own_path(caller, tuple(planned.step for planned in plan), before.config, after.config)

    def _look_and_compile(
        self, request: CommitRequest, turn: Turn
    ) -> tuple[Desired, Prepared, Observed, ReadingService]:
        """Observing waits for other processes, compiling does not. The readings that the watch compares with
        are taken while the plan is made."""

        def go_on() -> None:
            self.proceed()
            turn.check()

        looking, running = self.live.look(), self.running
        try:
            self.watched.ahead(request, running.prepared.config)
            prepared = self.prepare(request.document)
            service_before = self.watched.reading(
                request, running.revision, running.prepared.config, prepared.config, prepared.digest
            )
            desired = self.compile(prepared.config)
            observed = looking.result(go_on)
            # Not sooner: observing would wait for the same programs, and take longer than one after the
            # other.
            service_before.begin()
            return desired, prepared, observed, service_before
        except Overtaken as overtaken:
            looking.abandon()
            raise Conflict(str(overtaken)) from overtaken
        except BaseException:
            looking.abandon()
            raise


def _taken_down(planned: Callable[[], tuple[Observed, Plan]]) -> frozenset[str]:
    try:
        return taken_down(planned()[1])
    except MillraceError:
        return frozenset()


def _room_for(prepared: Prepared) -> int:
    """Bytes that a commit of this document may write: document, plan and difference, and the job's result."""
    return 2 * sum(map(len, prepared.texts.values())) + 1024 * 1024
