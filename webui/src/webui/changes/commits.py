"""From a document to a revision: one call of the agent, an audit entry, and an update of the mirror."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from appliance.client.answers import CommitAnswer
from appliance.client.failures import raise_failed
from appliance.config.diff import Change
from appliance.config.edit import Edit
from appliance.config.problem_text import told_by_field
from appliance.errors import MillraceError, NotFound, Problem, Stale, ValidationFailed
from appliance.state.commit_options import CommitOptions
from appliance.state.commits import CommitOutcome, CommitsUnderWay, CommitUnderWay
from webui import router_state
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.roles import Role
from webui.agent import agent
from webui.changes import history

PATIENT = 6
"""Most requests that may wait a minute for their commits; others release their lane's threads after a
moment.
"""
_IMPATIENT_S = 4.0
_patient = threading.BoundedSemaphore(PATIENT)


def options_of(actor: Actor, **chosen: Any) -> CommitOptions:
    """The options of this user's request, with what he chose. Raises ValidationFailed."""
    comment = chosen.get("comment", "")
    if len(comment) > 500 or not comment.isprintable():
        message = "must be one line of at most 500 printable characters"
        raise ValidationFailed([Problem("/comment", message)])
    who = {"author": actor.name, "caller_address": actor.router_address}
    with told_by_field():
        return CommitOptions.model_validate({**who, **chosen})


def commit_document(
    actor: Actor,
    document: dict[str, Any],
    changes: Sequence[Change],
    base: int | str,
    options: CommitOptions,
) -> CommitOutcome:
    """Commit a sealed document that makes these changes to the running one, which is `base`: a revision or a
    digest.

    After its ``wait_s`` the outcome is ``running``; the default is a minute, or a moment where many wait
    already. Raises Stale when a document of another digest runs, which is not in the audit log; Conflict when
    another revision runs by now, ValidationFailed, CommitFailed, AgentUnavailable, which are.
    """
    actor.require(Role.ENGINEER)
    target = _target(changes)
    with _audited(actor, "config.commit", target, changes), _waiting(options) as asked:
        answer = agent().commit(
            document,
            asked,
            base_revision=base if isinstance(base, int) else None,
            match=[base] if isinstance(base, str) else None,
        )
    _note(actor, "config.commit", target, answer, options, changes)
    return answer.outcome


def commit_edit(
    actor: Actor, edit: Edit, match: Sequence[str] | None, options: CommitOptions
) -> CommitOutcome:
    """Edit the running document, or require that its digest is in `match`; the agent edits and commits the
    result.

    Raises Stale, NotFound and ValidationFailed where the edit is impossible or does not parse, which is not
    in the audit log; otherwise as `commit_document`.
    """
    actor.require(Role.ENGINEER)
    with _waiting(options) as asked:
        try:
            answer = agent().commit_edit(edit, asked, match=match)
        except (Stale, NotFound, ValidationFailed):
            raise
        except MillraceError as error:
            audit.record(actor, "config.commit", edit.pointer, (), "failed", str(error))
            raise
        finally:
            router_state.forget()
    target = _target(answer.diff) if answer.diff else edit.pointer
    with _audited(actor, "config.commit", target, answer.diff):
        raise_failed(answer.result)
    _note(actor, "config.commit", target, answer.result, options, answer.diff)
    return answer.result.outcome


def rollback(actor: Actor, revision: int, options: CommitOptions) -> CommitOutcome:
    """Make the document of an earlier revision the next one. Raises NotFound and what a commit raises."""
    actor.require(Role.ENGINEER)
    target = f"revision {revision}"
    with _audited(actor, "config.rollback", target), _waiting(options) as asked:
        answer = agent().rollback(revision, asked)
    _note(actor, "config.rollback", target, answer, options)
    return answer.outcome


def _target(changes: Sequence[Change]) -> str:
    return changes[0].path if len(changes) == 1 else ""


def _note(
    actor: Actor,
    action: str,
    target: str,
    answer: CommitAnswer,
    options: CommitOptions,
    changes: Sequence[Change] = (),
) -> None:
    """Record what became of it, and its revision."""
    became = f"revision {answer.revision}"
    if answer.state == "running":
        became = f"goes on as commit {answer.request_id}"
    audit.record(actor, action, target, changes, detail=f"{became}. {options.comment}".strip())
    history.mirror_made(answer.recorded)


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
def _waiting(options: CommitOptions) -> Iterator[CommitOptions]:
    """The options with the time this request may wait for its commit, unless they name one."""
    if options.wait_s is not None:
        yield options
    elif _patient.acquire(blocking=False):
        try:
            yield options
        finally:
            _patient.release()
    else:
        yield options.waiting(_IMPATIENT_S)


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
    return agent().commit_result(request_id).outcome
