"""Change sets: collect edits, look at them, commit them together."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from webui.accounts.roles import Role
from webui.api.auth import actor, needs
from webui.api.commits import CommitChoice, CommitOut, commit_answer
from webui.api.find import Number, change_set
from webui.api.idempotency import once
from webui.api.paging import Limit, Offset, Paged, page_of
from webui.api.schemas import (
    ChangeSetOut,
    ConflictEntry,
    Difference,
    PreviewOut,
    Strict,
)
from webui.changes import services as changes
from webui.changes.models import ChangeSet

router = Router(tags=["changes"])


class NewChange(Strict):
    """A change set to be made."""

    title: str = Field("", max_length=120, description="What it is about; the comment of its commit.")


class CommitIn(CommitChoice, Strict):
    """How a change set is committed."""

    comment: str = Field("", max_length=500, description="Kept with the revision; the title when empty.")


class ChangeDetail(ChangeSetOut):
    """A change set with its candidate document."""

    document: dict[str, Any] | None = Field(
        description="Null when closed: the revision has what was committed."
    )

    @staticmethod
    def resolve_document(row: ChangeSet) -> dict[str, Any] | None:
        """The candidate; secrets masked."""
        return changes.document(row) if row.is_open else None


class DifferenceList(Schema):
    """The candidate against its base."""

    base_revision: int
    diff: list[Difference]


class Rebased(Schema):
    """A change set that sits on the running revision now, or the conflicts that keep it from there."""

    change: ChangeSetOut
    conflicts: list[ConflictEntry]


State = Annotated[Literal["open", "committed", "discarded"] | None, Query(None, description="Only these.")]


@router.get("/changes", auth=needs(Role.VIEWER), response=Paged[ChangeSetOut], operation_id="list_changes")
def list_changes(request: HttpRequest, limit: Limit, offset: Offset, state: State) -> Any:
    """Change sets of all users, the last edited first."""
    rows = ChangeSet.objects.select_related("owner")
    return page_of(request, rows.filter(state=state) if state else rows, limit, offset)


@router.post(
    "/changes", auth=needs(Role.ENGINEER), response={201: ChangeSetOut}, operation_id="create_change"
)
def create_change(request: HttpRequest, body: NewChange) -> Any:
    """A new change set on the running revision."""
    return Status(201, changes.start_change(actor(request), body.title))


@router.get("/changes/{number}", auth=needs(Role.VIEWER), response=ChangeDetail, operation_id="get_change")
def get_change(request: HttpRequest, number: Number) -> Any:  # noqa: ARG001 - ninja's signature
    """One change set with its candidate."""
    return change_set(number)


@router.delete(
    "/changes/{number}", auth=needs(Role.ENGINEER), response={204: None}, operation_id="discard_change"
)
def discard_change(request: HttpRequest, number: Number) -> Any:
    """Give a change set up. Its owner or an admin may."""
    changes.discard(actor(request), change_set(number))
    return Status(204, None)


@router.get(
    "/changes/{number}/diff", auth=needs(Role.VIEWER), response=DifferenceList, operation_id="diff_change"
)
def diff_change(request: HttpRequest, number: Number) -> Any:  # noqa: ARG001 - ninja's signature
    """The candidate against its base; secrets masked."""
    change = change_set(number)
    return {"base_revision": change.base_revision, "diff": [asdict(one) for one in changes.diff(change)]}


@router.get(
    "/changes/{number}/plan", auth=needs(Role.VIEWER), response=PreviewOut, operation_id="plan_change"
)
def plan_change(request: HttpRequest, number: Number) -> Any:
    """What a commit would do now: steps, impact, result, problems and conflicts."""
    return asdict(changes.preview(change_set(number), actor(request).router_address))


@router.post(
    "/changes/{number}/commit",
    auth=needs(Role.ENGINEER),
    response={200: CommitOut, 202: CommitOut},
    operation_id="commit_change",
)
def commit_change(request: HttpRequest, number: Number, body: CommitIn) -> HttpResponse:
    """Merge the candidate onto what runs and commit that."""
    change, who = change_set(number), actor(request)
    return once(
        request,
        who,
        lambda request_id: commit_answer(changes.commit(who, change, body.options(request, request_id))),
    )


@router.post(
    "/changes/{number}/confirm",
    auth=needs(Role.OPERATOR),
    response={204: None},
    operation_id="confirm_change",
)
def confirm_change(request: HttpRequest, number: Number) -> Any:
    """Keep the commit of this change set, which waits for its confirmation."""
    change_set(number)
    changes.confirm(actor(request))
    return Status(204, None)


@router.post(
    "/changes/{number}/rebase", auth=needs(Role.ENGINEER), response=Rebased, operation_id="rebase_change"
)
def rebase_change(request: HttpRequest, number: Number) -> Any:
    """Move the candidate onto the running revision; with conflicts nothing is changed."""
    change = change_set(number)
    conflicts = changes.rebase(actor(request), change)
    return {"change": change, "conflicts": [asdict(one) for one in conflicts]}
