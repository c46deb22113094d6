"""The agent's calls: what is asked, and how the answer is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from appliance.actions.action import Action, Done
from appliance.client.answers import Answer, CommitAnswer, ConfigAnswer, EditAnswer, PlanAnswer, StatusAnswer
from appliance.config.edit import Edit
from appliance.errors import Problem
from appliance.state.alarms import Alarms, Events, EventsQuery
from appliance.state.benches import BenchState, BenchWanted
from appliance.state.captures import CaptureState, CaptureWanted
from appliance.state.commit_options import CommitOptions
from appliance.state.commits import CommitsUnderWay, CommitUnderWay
from appliance.state.configuration import CheckedDocument, EditPlan, RunningConfig
from appliance.state.counter_selection import Selection
from appliance.state.logs import LogPage, LogQuery
from appliance.state.operations import Operations
from appliance.state.part import Answer as StateAnswer
from appliance.state.part import Part, Question
from appliance.state.traces import TraceResult, TraceState, TraceWanted

T = TypeVar("T")
A = TypeVar("A", bound=StateAnswer)
Q = TypeVar("Q", bound=Question)
Document = Mapping[str, Any]


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request and how its answer is read."""

    method: str
    path: str
    read: Callable[[Any], T]
    body: Any = None
    query: Mapping[str, str] | None = None
    content: bytes | None = None
    """Instead of a JSON body."""


def get(path: str, read: Callable[[Any], T], /, **query: object) -> Call[T]:
    """A read; parameters that are None or False are left out."""
    return Call(
        "GET",
        f"/v1/{path}",
        read,
        query={
            name: "true" if value is True else str(value)
            for name, value in query.items()
            if value is not None and value is not False
        },
    )


def post(path: str, read: Callable[[Any], T], body: Any) -> Call[T]:
    """A write, or a question with a document in it."""
    return Call("POST", f"/v1/{path}", read, body)


def status() -> Call[StatusAnswer]:
    return get("status", StatusAnswer)


def config() -> Call[ConfigAnswer]:
    return get("config", ConfigAnswer)


def running(known: str | None) -> Call[RunningConfig]:
    return get("config", _running, known=known)


def check(document: Document, seal: bool, known: str | None) -> Call[CheckedDocument]:
    def read(answer: Any) -> CheckedDocument:
        problems = tuple(Problem(**problem) for problem in answer["problems"])
        given = {**answer, "problems": problems, "running": _running(answer["running"])}
        return CheckedDocument.model_construct(**given)

    return post("check", read, {"document": document, "seal": seal, "known": known})


def _running(answer: Any) -> RunningConfig:
    # Its document, which is large, is not walked once more: whoever reads it reads it as a document.
    return RunningConfig.model_construct(**answer)


def seal(document: Document) -> Call[dict[str, Any]]:
    return post("seal", lambda answer: dict(answer["document"]), {"document": document})


def validate(document: Document) -> Call[list[Problem]]:
    def read(answer: Any) -> list[Problem]:
        return [Problem(problem["pointer"], problem["message"]) for problem in answer["problems"]]

    return post("validate", read, {"document": document})


def plan(
    document: Document, caller_address: str | None, match: Sequence[str] | None = None
) -> Call[PlanAnswer]:
    body = {"document": document, "caller_address": caller_address, "match": match}
    return post("plan", PlanAnswer, body)


def plan_edit(edit: Edit, match: Sequence[str] | None, caller_address: str | None) -> Call[EditPlan]:
    body = {"edit": edit.model_dump(), "match": match, "caller_address": caller_address}
    return post("edits/plan", EditPlan.model_validate, body)


def commit_edit(edit: Edit, options: CommitOptions, match: Sequence[str] | None) -> Call[EditAnswer]:
    body = {"edit": edit.model_dump(), "match": match, **options.to_json()}
    return post("edits/commit", EditAnswer.read, body)


def commit(
    document: Document, options: CommitOptions, base_revision: int | None, match: Sequence[str] | None
) -> Call[CommitAnswer]:
    body = {"document": document, "match": match, "base_revision": base_revision, **options.to_json()}
    return post("commit", CommitAnswer, body)


def rollback(revision: int, options: CommitOptions) -> Call[CommitAnswer]:
    return post("rollback", CommitAnswer, {"revision": revision, **options.to_json()})


def commits() -> Call[CommitsUnderWay]:
    return get("commits", CommitsUnderWay.model_validate)


def cancel_commit(request_id: str, author: str) -> Call[CommitUnderWay]:
    path = f"commits/{quote(request_id, safe='')}/cancel"
    return post(path, CommitUnderWay.model_validate, {"author": author})


def commit_result(request_id: str) -> Call[CommitAnswer]:
    return get(f"commits/{quote(request_id, safe='')}", CommitAnswer)


def confirm(author: str) -> Call[Answer]:
    return post("confirm", Answer, {"author": author})


def keep(author: str) -> Call[Answer]:
    return post("keep", Answer, {"author": author})


def watch_rules() -> Call[dict[str, str]]:
    return get("watch/rules", lambda answer: dict(answer["rules"]))


def revisions(limit: int, before: int | None) -> Call[list[Answer]]:
    return get("revisions", lambda answer: [Answer(entry) for entry in answer], limit=limit, before=before)


def revision(number: int) -> Call[Answer]:
    return get(f"revisions/{int(number)}", Answer)


def state(part: Part[Q, A], question: Q | None) -> Call[A]:
    asked = part.asked({}) if question is None else question
    given = asked.model_dump(mode="json", exclude_defaults=True)
    places = {name: quote(str(given.pop(name)), safe="") for name in part.in_path}
    return get(f"state/{part.where.format(**places)}", part.answer.model_validate, **given)


def act(action: Action[Q], question: Q, author: str) -> Call[Done]:
    body = {"author": author, "question": question.model_dump(mode="json", exclude_none=True)}
    return post(f"actions/{action.name}", Done.model_validate, body)


def alarms() -> Call[Alarms]:
    return get("alarms", Alarms.model_validate)


def events(query: EventsQuery) -> Call[Events]:
    return get("events", Events.model_validate, **query.model_dump(mode="json"))


def start_capture(wanted: CaptureWanted, author: str) -> Call[CaptureState]:
    return post("captures", CaptureState.model_validate, {**wanted.model_dump(mode="json"), "author": author})


def stop_capture(capture: str) -> Call[CaptureState]:
    return post(f"captures/{quote(capture, safe='')}/stop", CaptureState.model_validate, {})


def remove_capture(capture: str) -> Call[CaptureState]:
    return Call("DELETE", f"/v1/captures/{quote(capture, safe='')}", CaptureState.model_validate)


def capture_part(capture: str, offset: int) -> Call[bytes]:
    return Call("GET", f"/v1/captures/{quote(capture, safe='')}/file", bytes, query={"offset": str(offset)})


def start_bench(wanted: BenchWanted, author: str) -> Call[BenchState]:
    return post("benches", BenchState.model_validate, {**wanted.model_dump(mode="json"), "author": author})


def cancel_bench(bench: str) -> Call[BenchState]:
    return post(f"benches/{quote(bench, safe='')}/cancel", BenchState.model_validate, {})


def logs(query: LogQuery) -> Call[LogPage]:
    return get("logs", LogPage.model_validate, **query.model_dump(mode="json", exclude_defaults=True))


def operations(after: int) -> Call[Operations]:
    return get("operations", Operations.model_validate, after=after)


def start_trace(wanted: TraceWanted, author: str) -> Call[TraceState]:
    return post("traces", TraceState.model_validate, {**wanted.model_dump(mode="json"), "author": author})


def trace(trace_id: str) -> Call[TraceResult]:
    return get(f"traces/{quote(trace_id, safe='')}", TraceResult.model_validate)


def stop_trace(trace_id: str) -> Call[TraceState]:
    return post(f"traces/{quote(trace_id, safe='')}/stop", TraceState.model_validate, {})


def remove_trace(trace_id: str) -> Call[TraceState]:
    return Call("DELETE", f"/v1/traces/{quote(trace_id, safe='')}", TraceState.model_validate)


def counters(selection: Selection) -> Call[Answer]:
    return get("counters", Answer, **selection.query())


def acl_totals() -> Call[Answer]:
    return get("counters/acls", Answer)


def acl_hits(name: str) -> Call[Answer]:
    return get(f"counters/acls/{quote(name, safe='')}", Answer)


def counters_history(seconds: int, selection: Selection) -> Call[list[Answer]]:
    return get(
        "counters/history",
        lambda answer: [Answer(sample) for sample in answer["samples"]],
        seconds=seconds,
        **selection.query(),
    )


def upgrade() -> Call[Answer]:
    return get("upgrade", Answer)


def upgrade_part(data: bytes, offset: int, size: int) -> Call[Answer]:
    where = {"offset": str(offset), "size": str(size)}
    return Call("PUT", "/v1/upgrade/file", Answer, query=where, content=data)


def forget_upgrade() -> Call[Answer]:
    return Call("DELETE", "/v1/upgrade/file", Answer)


def install_upgrade(
    author: str, reboot: bool, deadline_s: float | None, allow_downgrade: bool
) -> Call[Answer]:
    body = {"author": author, "reboot": reboot, "allow_downgrade": allow_downgrade}
    return post("upgrade/install", Answer, {**body, **_if_given(deadline_s)})


def switch_slot(author: str, deadline_s: float | None, allow_downgrade: bool) -> Call[Answer]:
    wanted = {"author": author, "allow_downgrade": allow_downgrade, **_if_given(deadline_s)}
    return post("upgrade/switch", Answer, wanted)


def _if_given(deadline_s: float | None) -> dict[str, float]:
    return {} if deadline_s is None else {"deadline_s": deadline_s}


def tool(name: str, **parameters: object) -> Call[Answer]:
    return post(
        f"tools/{name}", Answer, {key: value for key, value in parameters.items() if value is not None}
    )
