"""From a request to a recorded revision: everything of a commit that needs the writer's lock."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from appliance.config.capabilities import Capabilities
from appliance.config.diff import diff_documents
from appliance.config.document import RouterConfig
from appliance.config.validate import require_valid
from appliance.engine import durable
from appliance.engine.backend import Backend
from appliance.engine.confirmation import Confirmation, Pending
from appliance.engine.documents import Documents, Prepared, text_at
from appliance.engine.journal import Journal
from appliance.engine.live import Desired, Live, Observed, StepHook
from appliance.engine.records import CommitRequest, CommitResult, Preview, Revision, impacts, timestamp
from appliance.engine.store import RevisionStore
from appliance.engine.transaction import Patience, Transaction
from appliance.engine.view import View
from appliance.errors import CommitFailed, Conflict
from appliance.secrets import SecretBox

log = logging.getLogger(__name__)

_WRITER_WAIT_S = 30.0
"""How long a commit waits for the one before it."""
Compile = Callable[[RouterConfig], Desired]


@dataclass(frozen=True)
class Running:
    """The last recorded revision."""

    revision: int
    prepared: Prepared


class Committer:
    """The running document, the live router and what is on disk; see Engine for the arguments."""

    def __init__(
        self,
        backends: Sequence[Backend],
        compile: Compile,  # noqa: A002 - the stage's name
        capabilities: Callable[[], Capabilities],
        state_dir: Path,
        step_hook: StepHook | None,
        clock: Callable[[], float],
        patience: Patience,
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
        self.confirmation = Confirmation(state_dir, clock)
        self.restore_due = False
        """A transaction was left open: the router may be anywhere between two revisions."""
        self._writer = threading.Lock()
        # What programs read at their next boot need not be written before the caller has its answer.
        self._after = ThreadPoolExecutor(1, thread_name_prefix="after-commit")
        self._checked: tuple[Prepared, Capabilities] | None = None
        """What the last check found nothing wrong with."""
        number, prepared = self.store.newest_whole(self.documents.read)
        self.running = Running(number, prepared)
        self._lost_secrets = prepared.lost

    @contextmanager
    def writing(self, wait_s: float = _WRITER_WAIT_S) -> Iterator[None]:
        """The writer's lock. Raises Conflict when another commit holds it for too long."""
        if not self._writer.acquire(timeout=wait_s):
            raise Conflict("another commit is under way")
        try:
            yield
        finally:
            self._writer.release()

    def shut_secrets(self) -> list[str]:
        """Pointers to secrets that the key does not open, which the router does without until given anew."""
        lost, sealed = self._lost_secrets, self.running.prepared.sealed
        return [pointer for pointer, text in lost.items() if text_at(sealed, pointer) == text]

    def check_history(self) -> None:
        """Begin to read the newest revisions, so that damage is known before somebody needs them."""
        self._after.submit(self.store.check_newest)

    def prepare(self, document: Mapping[str, Any]) -> Prepared:
        """Read, seal and check a document against the running one. Raises ValidationFailed."""
        prepared, capabilities = self.documents.prepare(document, self.running.prepared), self.capabilities()
        checked = self._checked
        if checked is None or checked[0] is not prepared or checked[1] != capabilities:
            require_valid(prepared.config, capabilities)
            self._checked = (prepared, capabilities)
        return prepared

    def compile_running(self) -> Desired:
        """Desired state of the last recorded revision."""
        return self.compile(self.running.prepared.config)

    def preview(self, document: Mapping[str, Any]) -> Preview:
        """What a commit of ``document`` would do now. Needs no writer's lock."""
        running = self.running
        with self.view.looking() as outcome:
            prepared = self.prepare(document)
            desired = self.compile(prepared.config)
            observed = outcome()
        plan = self.live.plan(desired, observed)
        concerns_frr = any(planned.backend.name == "frr" for planned in plan)
        return Preview(
            running.revision,
            tuple(diff_documents(running.prepared.sealed, prepared.sealed)),
            plan,
            self.live.diff("frr", desired, observed) if concerns_frr else (),
        )

    def transact(self, request: CommitRequest, request_id: str, supersede: bool = False) -> CommitResult:
        """Commit, with the writer's lock held. ``supersede``: even if a revision awaits confirmation.

        Raises ValidationFailed, BackendUnavailable or CommitFailed; nothing is changed then.
        """
        with self.view.moving:
            desired, prepared, observed = self._look_and_compile(request.document)
            plan = self.live.plan(desired, observed)
            whole = self.running.revision == self.store.head
            if not plan and prepared.digest == self.running.prepared.digest and whole:
                if supersede:
                    self.confirmation.clear()
                return CommitResult(request_id, "done", self.running.revision)
            armed: list[Pending] = []
            transaction = Transaction(
                self.live, self.journal, self.patience, plan, desired, observed, self.compile_running
            )

            def record() -> None:
                self._record(request, request_id, prepared, transaction, armed)

            try:
                transaction.run(self.running.revision, request_id, request.author, record)
            except CommitFailed as failed:
                self.restore_due = self.restore_due or not failed.undone
                raise
            self.running = Running(self.store.head, prepared)
            self.restore_due = False
            self.view.keep(transaction.after)
            self.view.as_it_should_be(transaction.after)
            self.view.publish((), transaction.after)
        self._after.submit(self._tell, desired)
        self._after.submit(self._prune)
        steps = tuple(planned.to_json() for planned in transaction.applied)
        log.info("revision %s committed by %s in %s steps", self.running.revision, request.author, len(steps))
        expires_at = timestamp(armed[0].expires_at_s) if armed else None
        return CommitResult(request_id, "done", self.running.revision, steps, confirm_expires_at=expires_at)

    def _tell(self, desired: Desired) -> None:
        for failure in self.live.committed(desired):
            log.warning("after the commit: %s", failure)

    def _prune(self) -> None:
        pending = self.confirmation.pending
        needed = {self.running.revision} | ({pending.rollback_to, pending.revision} if pending else set())
        try:
            self.store.prune(needed)
        except OSError as error:
            log.warning("old revisions cannot be forgotten: %s", error)

    def close(self) -> None:
        """Finish what was begun, and let go of threads."""
        self._after.shutdown(wait=True)
        self.live.close()

    def _look_and_compile(self, document: Mapping[str, Any]) -> tuple[Desired, Prepared, Observed]:
        """Both at once: looking waits for other processes, compiling does not."""
        looking = self.live.look()
        try:
            prepared = self.prepare(document)
            desired = self.compile(prepared.config)
        finally:
            states = looking.each()
        for state in states.values():
            if isinstance(state, Exception):
                raise state
        return desired, prepared, states

    def _record(
        self,
        request: CommitRequest,
        request_id: str,
        prepared: Prepared,
        transaction: Transaction,
        armed: list[Pending],
    ) -> None:
        """Write revision N+1, its confirm timer first. Raises OSError with nothing recorded."""
        running, head, applied = self.running.revision, self.store.head, transaction.applied
        changes = diff_documents(self.running.prepared.sealed, prepared.sealed)
        details = self.store.put(
            {
                "plan": [planned.to_json() for planned in applied],
                "diff": [asdict(change) for change in changes],
            }
        )
        revision = Revision(
            revision=head + 1,
            digest=prepared.digest,
            author=request.author,
            comment=request.comment,
            time=timestamp(self.clock()),
            impact="; ".join(impacts(applied)) or "none",
            steps_count=len(applied),
            result="done",
            base_revision=running,
            request_id=request_id,
            confirm_s=request.confirm_s,
            details=details,
        )
        before = self.confirmation.pending
        if request.confirm_s is not None:
            armed.append(self.confirmation.arm(head + 1, running, request.confirm_s))
        try:
            self.store.append(revision, prepared.sealed)
        except OSError:
            self.confirmation.restore(before)
            raise
        if not armed:
            self.confirmation.clear()
