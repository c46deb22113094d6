"""The agent's client for threads."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from appliance.actions.action import Action, Done
from appliance.client import calls
from appliance.client.answers import Answer, CommitAnswer, ConfigAnswer, EditAnswer, PlanAnswer, StatusAnswer
from appliance.client.benches import BenchCalls
from appliance.client.connections import Connections, Late, Reply, Unreachable
from appliance.client.failures import error_of, raise_failed
from appliance.client.waiting import Progress, end_of, first_wait, running
from appliance.config.edit import Edit
from appliance.errors import AgentUnavailable, Problem
from appliance.state.alarms import Alarms, Events, EventsQuery
from appliance.state.captures import CaptureState, CaptureWanted
from appliance.state.commit_options import CommitOptions
from appliance.state.commits import CommitsUnderWay, CommitUnderWay
from appliance.state.configuration import CheckedDocument, EditPlan, RunningConfig
from appliance.state.counter_selection import EVERYTHING, Selection
from appliance.state.logs import LogPage, LogQuery
from appliance.state.operations import AUTHOR_HEADER, VIA_HEADER, Operations
from appliance.state.part import Answer as StateAnswer
from appliance.state.part import Part, Question
from appliance.state.traces import TraceResult, TraceState, TraceWanted

T = TypeVar("T")
A = TypeVar("A", bound=StateAnswer)
Q = TypeVar("Q", bound=Question)


class AgentClient(BenchCalls):
    """Speaks to the agent behind a Unix socket. One client serves all threads of a process.

    Every method may raise AgentUnavailable and AgentRefused, and what the agent answers with:
    ValidationFailed, NotFound, Conflict, RouterUnavailable, CommitFailed.
    """

    def __init__(
        self, socket_path: str | Path, timeout_s: float = 60.0, command_line_of: str | None = None
    ) -> None:
        """``command_line_of``: who is at the command line; the agent keeps what he does for the audit log."""
        self._socket_path, self._timeout_s = str(socket_path), timeout_s
        headers = {}
        if command_line_of is not None:
            headers = {VIA_HEADER: "cli", AUTHOR_HEADER: quote(command_line_of)}
        self._connections = Connections(self._socket_path, timeout_s, headers)

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def status(self) -> StatusAnswer:
        """What runs, what awaits confirmation, drift and health."""
        return self._ask(calls.status())

    def config(self) -> ConfigAnswer:
        """The running document; secrets sealed."""
        return self._ask(calls.config())

    def running(self, known: str | None = None) -> RunningConfig:
        """The running document, which is left out when its digest is ``known``."""
        return self._ask(calls.running(known))

    def check(
        self, document: calls.Document, *, seal: bool = False, known: str | None = None
    ) -> CheckedDocument:
        """A document that is edited, sealed if need be, what stops its commit, and what runs."""
        return self._ask(calls.check(document, seal, known))

    def seal(self, document: calls.Document) -> dict[str, Any]:
        """``document`` with plain secrets sealed and masked ones taken from the running document."""
        return self._ask(calls.seal(document))

    def validate(self, document: calls.Document) -> list[Problem]:
        """What would stop a commit; empty when nothing would."""
        return self._ask(calls.validate(document))

    def plan(
        self,
        document: calls.Document,
        caller_address: str | None = None,
        match: Sequence[str] | None = None,
    ) -> PlanAnswer:
        """What a commit from this address would do. Raises Stale unless a digest of ``match`` runs."""
        return self._ask(calls.plan(document, caller_address, match))

    def plan_edit(
        self, edit: Edit, *, match: Sequence[str] | None = None, caller_address: str | None = None
    ) -> EditPlan:
        """What the commit of an edit of the running document would do.

        Raises Stale unless a digest of ``match`` runs, and what ``Edit.applied`` raises.
        """
        return self._ask(calls.plan_edit(edit, match, caller_address))

    def commit_edit(
        self, edit: Edit, options: CommitOptions, *, match: Sequence[str] | None = None
    ) -> EditAnswer:
        """Edit the running document. A failed commit is in the result, not raised; else as ``commit``.

        Without ``match`` the edit is made anew when another commit came first. Raises Stale unless a digest
        of ``match`` runs, and what ``Edit.applied`` raises: then nothing was begun.
        """
        deadline = self._deadline(options)
        try:
            answer = self._ask(calls.commit_edit(edit, options, match))
        except AgentUnavailable as error:
            if not isinstance(error.__cause__, Late):
                raise
            return EditAnswer(0, (), running(options.request_id))
        return replace(answer, result=end_of(answer.result, self.commit_result, deadline, None))

    def commit(
        self,
        document: calls.Document,
        options: CommitOptions,
        *,
        base_revision: int | None = None,
        match: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> CommitAnswer:
        """Make ``document`` the running one; raises when it fails.

        Raises Stale, with nothing begun, unless a digest of ``match`` runs, and Conflict unless
        ``base_revision`` does.

        State ``running``: it took longer than ``wait_s``, or the client's timeout; look it up by its request
        id. With ``progress``, which is told now and then how far it is, it is waited for to its end.
        """
        asked = first_wait(options, progress)
        return self._change(calls.commit(document, asked, base_revision, match), options, progress)

    def rollback(
        self, revision: int, options: CommitOptions, *, progress: Progress | None = None
    ) -> CommitAnswer:
        """Commit the document of an earlier revision; as ``commit``."""
        return self._change(calls.rollback(revision, first_wait(options, progress)), options, progress)

    def commit_result(self, request_id: str) -> CommitAnswer:
        """What became of a commit or rollback; does not raise when that failed."""
        return self._ask(calls.commit_result(request_id))

    def commits(self) -> CommitsUnderWay:
        """The commit that runs, and those that wait for their turn."""
        return self._ask(calls.commits())

    def cancel_commit(self, request_id: str, *, author: str) -> CommitUnderWay:
        """Have a commit that waits or runs stopped and undone; as it stands then.

        Raises Conflict when it is over or is being recorded, NotFound when there is none.
        """
        return self._ask(calls.cancel_commit(request_id, author))

    def confirm(self, author: str) -> Answer:
        """Keep the revision that awaits confirmation. Raises Conflict when none does."""
        return self._ask(calls.confirm(author))

    def keep(self, author: str) -> Answer:
        """Keep the revision, whatever its watch sees. Raises Conflict when none would go back by itself."""
        return self._ask(calls.keep(author))

    def watch_rules(self) -> dict[str, str]:
        """When the watch after a commit calls something worse, by what is compared."""
        return self._ask(calls.watch_rules())

    def revisions(self, limit: int = 50, before: int | None = None) -> list[Answer]:
        """Newest first."""
        return self._ask(calls.revisions(limit, before))

    def revision(self, number: int) -> Answer:
        """One revision with ``document``, ``plan`` and ``diff``."""
        return self._ask(calls.revision(number))

    def state(self, part: Part[Q, A], question: Q | None = None) -> A:
        """A part of the live state; a part that needs no question is asked for everything."""
        return self._ask(calls.state(part, question))

    def act(self, action: Action[Q], question: Q, *, author: str) -> Done:
        """Do something to the running router without a commit."""
        return self._ask(calls.act(action, question, author))

    def start_capture(self, wanted: CaptureWanted, *, author: str) -> CaptureState:
        """Begin to capture packets; raises StorageFull where the disk has no room, too."""
        return self._ask(calls.start_capture(wanted, author))

    def stop_capture(self, capture: str) -> CaptureState:
        """End a capture; its file is whole when this returns."""
        return self._ask(calls.stop_capture(capture))

    def remove_capture(self, capture: str) -> CaptureState:
        """Remove a capture that has ended; what it was."""
        return self._ask(calls.remove_capture(capture))

    def operations(self, after: int = 0) -> Operations:
        """What was done over the command line since the operation with this number."""
        return self._ask(calls.operations(after))

    def logs(self, query: LogQuery | None = None) -> LogPage:
        """Lines of the logs. Raises ValidationFailed, RouterUnavailable."""
        return self._ask(calls.logs(query or LogQuery()))

    def start_trace(self, wanted: TraceWanted, *, author: str) -> TraceState:
        """Begin a packet trace. Raises ValidationFailed, NotFound, Conflict while one runs."""
        return self._ask(calls.start_trace(wanted, author))

    def trace(self, trace: str) -> TraceResult:
        """A packet trace with its packets; there are none while it runs. Raises NotFound."""
        return self._ask(calls.trace(trace))

    def stop_trace(self, trace: str) -> TraceState:
        """End a packet trace. Raises NotFound."""
        return self._ask(calls.stop_trace(trace))

    def remove_trace(self, trace: str) -> TraceState:
        """Forget a packet trace that has ended. Raises NotFound, Conflict while it runs."""
        return self._ask(calls.remove_trace(trace))

    def capture_part(self, capture: str, offset: int) -> bytes:
        """A part of a capture's file, a MiB at most; empty behind its end."""
        return self._reply(calls.capture_part(capture, offset)).body

    def alarms(self) -> Alarms:
        """Every alarm that stands."""
        return self._ask(calls.alarms())

    def events(self, query: EventsQuery | None = None) -> Events:
        """A part of the log of alarms, the newest first."""
        return self._ask(calls.events(query or EventsQuery()))

    def counters(self, selection: Selection = EVERYTHING) -> Answer:
        """The latest sample."""
        return self._ask(calls.counters(selection))

    def acl_totals(self) -> Answer:
        """``acls``: how many rules each access list has, and their ``packets`` and ``bytes`` together."""
        return self._ask(calls.acl_totals())

    def acl_hits(self, name: str) -> Answer:
        """``rules``: ``packets`` and ``bytes`` by sequence, as they are now. Raises NotFound."""
        return self._ask(calls.acl_hits(name))

    def counters_history(self, seconds: int = 300, selection: Selection = EVERYTHING) -> list[Answer]:
        """Samples of the last seconds, oldest first: ``time`` and ``interfaces``."""
        return self._ask(calls.counters_history(seconds, selection))

    def counters_stream(self) -> Generator[Answer, None, None]:
        """Each new sample, one a second, until the agent goes away (AgentUnavailable) or the caller stops."""
        try:
            for line in self._connections.lines("/v1/counters/stream"):
                if isinstance(line, Reply):
                    raise error_of(line.status, line.body)
                yield Answer(json.loads(line))
        except (Unreachable, Late) as error:
            raise AgentUnavailable(f"the agent's counters ended: {error}") from error
        raise AgentUnavailable("the agent's counters ended")

    def ping(
        self,
        destination: str,
        count: int = 5,
        source: str | None = None,
        size: int | None = None,
        vrf: str | None = None,
    ) -> Answer:
        """``output`` (untrusted text) and ``result``. Raises NotFound for a VRF that is not there."""
        return self._ask(
            calls.tool("ping", destination=destination, count=count, source=source, size=size, vrf=vrf)
        )

    def traceroute(self, destination: str, source: str | None = None, vrf: str | None = None) -> Answer:
        """``output`` (untrusted text) and ``result``. Raises NotFound for a VRF that is not there."""
        return self._ask(calls.tool("traceroute", destination=destination, source=source, vrf=vrf))

    def upgrade(self) -> Answer:
        """``available``, ``slots``, ``upload``, ``progress`` and the last ``attempt``."""
        return self._ask(calls.upgrade())

    def upgrade_part(self, data: bytes, offset: int, size: int) -> Answer:
        """Send a part of an upgrade file of ``size`` bytes; ``received_bytes``, and ``manifest`` once known.

        Raises Conflict when the file will not do, or another part is due.
        """
        return self._ask(calls.upgrade_part(data, offset, size))

    def forget_upgrade(self) -> None:
        """Remove the upgrade file that was sent."""
        self._ask(calls.forget_upgrade())

    def install_upgrade(
        self,
        *,
        author: str,
        reboot: bool = True,
        deadline_s: float | None = None,
        allow_downgrade: bool = False,
    ) -> None:
        """Write the upgrade file into the other slot, and boot that. Returns when it has begun.

        A version that is older than the running one is refused unless ``allow_downgrade``.
        """
        self._ask(calls.install_upgrade(author, reboot, deadline_s, allow_downgrade))

    def switch_slot(self, *, author: str, allow_downgrade: bool, deadline_s: float | None = None) -> None:
        """Boot the other slot as it is. Returns when it has begun."""
        self._ask(calls.switch_slot(author, deadline_s, allow_downgrade))

    def _change(
        self, call: calls.Call[CommitAnswer], options: CommitOptions, progress: Progress | None
    ) -> CommitAnswer:
        """Make a commit, and wait for its end as long as ``wait_s`` or the client's timeout allows."""
        deadline = self._deadline(options)
        try:
            answer = self._ask(call)
        except AgentUnavailable as error:
            if not isinstance(error.__cause__, Late):
                raise
            return running(options.request_id)
        return raise_failed(end_of(answer, self.commit_result, deadline, progress))

    def _deadline(self, options: CommitOptions) -> float:
        return time.monotonic() + (self._timeout_s if options.wait_s is None else options.wait_s)

    def _ask(self, call: calls.Call[T]) -> T:
        return call.read(json.loads(self._reply(call).body))

    def _reply(self, call: calls.Call[Any]) -> Reply:
        body, kind = call.content, "application/octet-stream"
        if call.body is not None:
            body, kind = json.dumps(call.body, separators=(",", ":")).encode(), "application/json"
        try:
            reply = self._connections.ask(call.method, call.path, call.query, body, kind)
        except (Unreachable, Late) as error:
            raise AgentUnavailable(f"the agent does not answer on {self._socket_path}: {error}") from error
        if reply.status >= 400:
            raise error_of(reply.status, reply.body)
        return reply
