"""From a document to a revision: one call of the agent, an audit entry, and an update of the mirror."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from appliance.client.answers import CommitAnswer
from appliance.client.failures import raise_failed
from appliance.config.diff import Change
from appliance.config.edit import Edit
from appliance.errors import MillraceError, NotFound, Problem, Stale, ValidationFailed
from appliance.state.commits import CommitsUnderWay, CommitUnderWay
from appliance.state.watch import LONGEST_WATCH_S, SHORTEST_WATCH_S
from webui import router_state
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.roles import Role
from webui.agent import agent
from webui.changes import history
from webui.changes.results import CommitOutcome, steps_of

PATIENT = 6
"""Most requests that may wait a minute for their commits; others release their lane's threads after a
moment.
"""
_IMPATIENT_S = 4.0
_patient = threading.BoundedSemaphore(PATIENT)
MAX_CONFIRM_S = 24 * 3600
MAX_WATCH_S = int(LONGEST_WATCH_S)


def commit_document(
    actor: Actor,
    document: dict[str, Any],
    changes: Sequence[Change],
    base: int | str,
    comment: str = "",
    confirm_s: int | None = None,
    request_id: str | None = None,
    watch_s: int | None = None,
    wait_s: float | None = None,
) -> CommitOutcome:
    """Commit a sealed document that makes these changes to the running one, which is `base`: a revision or a
    digest.

    After ``wait_s`` the outcome is ``running``; the default is a minute, or a moment where many wait already.
    Raises Stale when a document of another digest runs, which is not in the audit log; Conflict when another
    revision runs by now, ValidationFailed, CommitFailed, AgentUnavailable, which are.
    """
    actor.require(Role.ENGINEER)
    _check(comment, confirm_s, watch_s)
    target = _target(changes)
    with _audited(actor, "config.commit", target, changes), _waiting(wait_s) as patience_s:
        answer = agent().commit(
            document,
            base_revision=base if isinstance(base, int) else None,
            match=[base] if isinstance(base, str) else None,
            comment=comment,
            author=actor.name,
            confirm_s=confirm_s,
            watch_s=watch_s,
            request_id=request_id or str(uuid.uuid4()),
            caller_address=actor.router_address,
            wait_s=patience_s,
        )
    outcome = _outcome(answer)
    audit.record(actor, "config.commit", target, changes, detail=f"{_became(outcome)}. {comment}".strip())
    history.mirror_made(answer.recorded)
    return outcome


def commit_edit(
    actor: Actor,
    edit: Edit,
    match: Sequence[str] | None,
    comment: str = "",
    confirm_s: int | None = None,
    request_id: str | None = None,
    watch_s: int | None = None,
    wait_s: float | None = None,
) -> CommitOutcome:
    """Edit the running document, or require that its digest is in `match`; the agent edits and commits the
    result.

    Raises Stale, NotFound and ValidationFailed where the edit is impossible or does not parse, which is not
    in the audit log; otherwise as `commit_document`.
    """
    actor.require(Role.ENGINEER)
    _check(comment, confirm_s, watch_s)
    with _waiting(wait_s) as patience_s:
        try:
            answer = agent().commit_edit(
                edit,
                match=match,
                comment=comment,
                author=actor.name,
                confirm_s=confirm_s,
                watch_s=watch_s,
                request_id=request_id or str(uuid.uuid4()),
                caller_address=actor.router_address,
                wait_s=patience_s,
            )
        except (Stale, NotFound, ValidationFailed):
            raise
        except MillraceError as error:
            audit.record(actor, "config.commit", edit.pointer, (), "failed", str(error))
            raise
        finally:
            router_state.forget()
    target = _target(answer.diff) if answer.diff else edit.pointer
    with _audited(actor, "config.commit", target, answer.diff):
        outcome = _outcome(raise_failed(answer.result))
    audit.record(actor, "config.commit", target, answer.diff, detail=f"{_became(outcome)}. {comment}".strip())
    history.mirror_made(answer.result.recorded)
    return outcome


def _target(changes: Sequence[Change]) -> str:
    return changes[0].path if len(changes) == 1 else ""


def rollback(
    actor: Actor,
    revision: int,
    comment: str = "",
    confirm_s: int | None = None,
    request_id: str | None = None,
    watch_s: int | None = None,
    wait_s: float | None = None,
) -> CommitOutcome:
    """Make the document of an earlier revision the next one. Raises NotFound and what a commit raises."""
    actor.require(Role.ENGINEER)
    _check(comment, confirm_s, watch_s)
    with _audited(actor, "config.rollback", f"revision {revision}"), _waiting(wait_s) as patience_s:
        answer = agent().rollback(
            revision,
            comment=comment,
            author=actor.name,
            confirm_s=confirm_s,
            watch_s=watch_s,
            request_id=request_id or str(uuid.uuid4()),
            caller_address=actor.router_address,
            wait_s=patience_s,
        )
    outcome = _outcome(answer)
    audit.record(
        actor, "config.rollback", f"revision {revision}", detail=f"{_became(outcome)}. {comment}".strip()
    )
    history.mirror_made(answer.recorded)
    return outcome


@contextmanager
def _audited(actor: Actor, action: str, target: str = "", changes: Sequence[Change] = ()) -> Iterator[None]:
    """Record a failure; the cached state of the router is read again in any case."""
    try:
        yield
    except Stale:
        raise
    except MillraceError as error:
        audit.record(actor, action, target, changes, "failed", str(error))
        raise
    finally:
        router_state.forget()


@contextmanager
def _waiting(wait_s: float | None) -> Iterator[float | None]:
    """How long this request may wait for its commit; None means as long as a request may take."""
    if wait_s is not None:
        yield wait_s
    elif _patient.acquire(blocking=False):
        try:
            yield None
        finally:
            _patient.release()
    else:
        yield _IMPATIENT_S


def under_way() -> CommitsUnderWay:
    """The running commit, and those that wait for their turn. Raises AgentUnavailable."""
    return agent().commits()


def cancel(actor: Actor, request_id: str) -> CommitUnderWay:
    """Cancel a commit that waits or runs, the actor's or another's; returns its present state.

    Raises Conflict when that is no longer possible, NotFound when there is none.
    """
    actor.require(Role.ENGINEER)
    with _audited(actor, "config.cancel", f"commit {request_id}"):
        stopping = agent().cancel_commit(request_id, author=actor.name)
    audit.record(
        actor, "config.cancel", f"commit {request_id}", detail=f"the {stopping.kind} of {stopping.author}"
    )
    return stopping


def confirm(actor: Actor) -> dict[str, Any]:
    """Confirm the commit that waits for confirmation. Raises Conflict when none does."""
    actor.require(Role.OPERATOR)
    with _audited(actor, "config.confirm"):
        answer: dict[str, Any] = agent().confirm(actor.name)
    audit.record(actor, "config.confirm")
    return answer


def keep(actor: Actor) -> dict[str, Any]:
    """Keep the watched commit, whatever the watch sees. Raises Conflict when none would be rolled back."""
    actor.require(Role.OPERATOR)
    with _audited(actor, "config.keep"):
        answer: dict[str, Any] = agent().keep(actor.name)
    audit.record(actor, "config.keep", f"revision {answer['revision']}")
    return answer


def outcome(request_id: str) -> CommitOutcome:
    """The outcome of a commit; its ``error`` says why it failed. Raises NotFound."""
    return _outcome(agent().commit_result(request_id))


def _became(outcome: CommitOutcome) -> str:
    if outcome.state == "running":
        return f"goes on as commit {outcome.request_id}"
    return f"revision {outcome.revision}"


def _outcome(answer: CommitAnswer) -> CommitOutcome:
    return CommitOutcome(
        request_id=str(answer["request_id"]),
        state=answer["state"],
        revision=answer.get("revision"),
        steps=steps_of(answer.get("steps")),
        error=answer.get("error"),
        confirm_expires_at=answer.get("confirm_expires_at"),
        confirm_reason=str(answer.get("confirm_reason", "")),
        reopened=tuple(answer.get("reopened") or ()),
        watch_s=answer.get("watch_s"),
        rolls_back=bool(answer.get("rolls_back", False)),
        progress=answer.progress,
    )


def _check(comment: str, confirm_s: int | None, watch_s: int | None) -> None:
    problems = []
    if len(comment) > 500 or not comment.isprintable():
        problems.append(Problem("/comment", "must be one line of at most 500 printable characters"))
    if confirm_s is not None and not 0 <= confirm_s <= MAX_CONFIRM_S:
        problems.append(Problem("/confirm_s", f"must be 1 to {MAX_CONFIRM_S} seconds, or 0 for no timer"))
    if watch_s and not SHORTEST_WATCH_S <= watch_s <= MAX_WATCH_S:
        limits = f"{SHORTEST_WATCH_S:.0f} to {MAX_WATCH_S}"
        problems.append(Problem("/watch_s", f"must be {limits} seconds, or 0 for no watch"))
    if problems:
        raise ValidationFailed(problems)
