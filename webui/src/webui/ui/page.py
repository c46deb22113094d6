"""Common parts of views: the frame, the user's candidate document, and the router's live state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from appliance.config.diff import diff_documents
from appliance.config.merge import merge
from appliance.config.problem_text import sentence_of
from appliance.errors import AgentUnavailable, MillraceError, NotFound, ValidationFailed
from webui.accounts.actor import actor_of
from webui.accounts.roles import Role
from webui.changes import services as changes
from webui.changes.models import ChangeSet
from webui.ui.candidate import Candidate
from webui.ui.shell import shell_of
from webui.ui.signed_in import user_of
from webui.ui.what_runs import what_runs

Value = TypeVar("Value")


def show(
    request: HttpRequest,
    template: str,
    section: str,
    context: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """The page `template`, marked as `section` of the navigation."""
    return render(request, template, {**frame_of(request, section), **(context or {})}, status=status)


def frame_of(request: HttpRequest, section: str) -> dict[str, Any]:
    """What the frame of a user's page needs."""
    user = user_of(request)
    return {
        "shell": shell_of(request, section),
        "may_edit": user.has_role(Role.ENGINEER),
        "may_operate": user.has_role(Role.OPERATOR),
        "may_administer": user.has_role(Role.ADMIN),
    }


def candidate_of(request: HttpRequest) -> Candidate:
    """This user's candidate: the change set on top of the running document. Raises AgentUnavailable."""
    known = what_runs(request)
    running, change = known.document, known.change
    if change is None or change.is_empty:
        return Candidate(running.document, running.document, (), running.revision, running.revision)
    document = changes.document(change)
    if change.base_revision != running.revision:
        merged = merge(changes.base_document(change), document, running.document)
        if not merged.conflicts:
            document = merged.document
    return Candidate(
        running=running.document,
        document=document,
        changes=tuple(diff_documents(running.document, document)),
        revision=running.revision,
        base_revision=change.base_revision,
    )


def open_change(request: HttpRequest) -> ChangeSet:
    """The change set to edit in: the user's open one, moved onto the running revision unless that
    conflicts.
    """
    actor, known = actor_of(request), what_runs(request)
    change = known.change
    if change is None:
        change = known.change = changes.start_change(actor, base=known.document)
    elif change.base_revision != known.document.revision:
        known.ask()
        changes.rebase(actor, change, known.document)
    return change


EMPTY = Candidate({}, {}, ())
"""What pages show while the agent is unavailable."""


@dataclass(frozen=True)
class Live:
    """One reading of the router: its answer, or why there is none."""

    value: Any
    failure: str = ""
    about: str = ""
    """The answer's remarks about the rows in `value`."""
    answered: bool = False
    """Whether a failure answers the question: there is no such thing, or the question is invalid."""

    @property
    def failed(self) -> bool:
        """Whether there is no value."""
        return bool(self.failure)


def look(read: Callable[[], Value], empty: Any, titles: Mapping[str, str] | None = None) -> Live:
    """The result of `read`, or `empty` with the reason when the router cannot be asked.

    Problems of the question name its fields by `titles`.
    """
    try:
        return Live(read())
    except ValidationFailed as error:
        return Live(empty, sentence_of(error.problems, titles), answered=True)
    except NotFound as error:
        return Live(empty, str(error), answered=True)
    except MillraceError as error:
        return Live(empty, str(error) or "The router's agent does not answer.")


def look_at_candidate(request: HttpRequest) -> tuple[Candidate, str]:
    """The candidate, or an empty one and the reason."""
    try:
        return candidate_of(request), ""
    except AgentUnavailable as error:
        why = str(error) or "The router's agent does not answer."
        return replace(EMPTY, unread=why), why


def missing(candidate: Candidate, what: str) -> Exception:
    """What to raise for an object that is in neither document: a 404, unless nobody could look."""
    return AgentUnavailable(candidate.unread) if candidate.unread else Http404(what)


def tell(request: HttpRequest, text: str, level: str = "success") -> None:
    """A message for the next page."""
    levels = {
        "success": messages.SUCCESS,
        "warning": messages.WARNING,
        "error": messages.ERROR,
        "info": messages.INFO,
    }
    messages.add_message(request, levels[level], text)
