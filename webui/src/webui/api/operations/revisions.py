"""History: what ran before, and going back to it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import BaseModel, ConfigDict, Field

from appliance.errors import NotFound
from appliance.state.commits import CommitsUnderWay, CommitUnderWay
from appliance.state.watch import WatchReport
from webui.accounts.roles import Role
from webui.agent import agent
from webui.api.auth import actor, needs
from webui.api.commits import CommitChoice, CommitOut, commit_answer
from webui.api.find import Number, change_set
from webui.api.idempotency import Answer, once
from webui.api.paging import PLAIN_TEXT, Limit, Offset, Paged, page, page_of_list
from webui.api.schemas import (
    ChangeSetOut,
    ConflictEntry,
    Difference,
    RevisionOut,
    Strict,
)
from webui.changes import rolled_back
from webui.changes import services as changes
from webui.changes.chosen import WORDS
from webui.changes.chosen import compare as compare_documents
from webui.changes.taking_up import take_up_revision

router = Router(tags=["revisions"])

Search = Annotated[
    str,
    Query(
        "", max_length=200, pattern=PLAIN_TEXT, description="Only those whose author or comment holds this."
    ),
]


class RevisionDetail(BaseModel):
    """A revision with its document (secrets masked), plan and difference to the one before."""

    model_config = ConfigDict(extra="allow")

    revision: int
    author: str
    comment: str
    document: dict[str, Any]
    watch: WatchReport | None = Field(
        None, description="What happened after it, beside what was foretold; null when it was not watched."
    )


class RollbackIn(CommitChoice, Strict):
    """Which revision to go back to, and how."""

    revision: int = Field(ge=0, le=2**31 - 1)


Document = Annotated[
    str,
    Field(
        pattern=WORDS,
        description="running; candidate, your open change set on what runs; or a revision's number.",
    ),
]


class CompareQuery(Schema):
    """Which two documents are compared."""

    from_: Document = Field(alias="from")
    to: Document


class Comparison(Schema):
    """What leads from one revision to another."""

    diff: list[Difference]


@router.get("/revisions", auth=needs(Role.VIEWER), response=Paged[RevisionOut], operation_id="list_revisions")
def list_revisions(request: HttpRequest, limit: Limit, offset: Offset, search: Search) -> Any:
    """Revisions, newest first."""
    found = changes.history(limit, offset, search)
    return page(request, [rolled_back.planned(one) for one in found.items], found.total, limit, offset)


@router.get(
    "/revisions/{number}", auth=needs(Role.VIEWER), response=RevisionDetail, operation_id="get_revision"
)
def get_revision(request: HttpRequest, number: Number) -> Any:  # noqa: ARG001 - ninja's signature
    """One revision."""
    return changes.revision(number)


@router.get(
    "/revisions/{number}/compare/{other}",
    auth=needs(Role.VIEWER),
    response=Comparison,
    operation_id="compare_revisions",
)
def compare_revisions(request: HttpRequest, number: Number, other: Number) -> Any:  # noqa: ARG001 - ninja's signature
    """What leads from one revision to the other; secrets masked."""
    return {"diff": [asdict(one) for one in changes.compare(number, other)]}


@router.get("/compare", auth=needs(Role.VIEWER), response=Paged[Difference], operation_id="compare")
def compare(request: HttpRequest, query: Query[CompareQuery], limit: Limit, offset: Offset) -> Any:
    """What leads from one document to another, in the order of the document; secrets masked."""
    found = compare_documents(actor(request).user, query.from_, query.to)
    return page_of_list(request, [asdict(one) for one in found.changes], limit, offset)


@router.post(
    "/rollback", auth=needs(Role.ENGINEER), response={200: CommitOut, 202: CommitOut}, operation_id="rollback"
)
def rollback(request: HttpRequest, body: RollbackIn) -> HttpResponse:
    """Make the document of an earlier revision the next one."""
    who = actor(request)
    return once(
        request,
        who,
        lambda request_id: commit_answer(
            changes.rollback(who, body.revision, body.options(request, request_id))
        ),
    )


@router.post("/confirm", auth=needs(Role.OPERATOR), response={204: None}, operation_id="confirm")
def confirm(request: HttpRequest) -> Any:
    """Keep the commit that waits for its confirmation."""
    changes.confirm(actor(request))
    return Status(204, None)


class TakeUpQuery(Schema):
    """Where the changes of a revision go, and which side wins."""

    change: int | None = Field(
        None, ge=1, le=2**31 - 1, description="Into this change set; otherwise into a new one."
    )
    keep: Literal["ours", "theirs"] | None = Field(
        None,
        description="Where the change set has another value than before and after the revision: ours keeps"
        " it, theirs takes the revision's. By default such places are conflicts, and nothing is done.",
    )


class TakenUpOut(Schema):
    """The change set with the changes in it, or the conflicts for which nothing was done."""

    change: ChangeSetOut | None = Field(description="Null if nothing was done and none was named.")
    added: bool = Field(description="False if the change set had them already.")
    conflicts: list[ConflictEntry]


@router.post(
    "/revisions/{number}/take-up",
    auth=needs(Role.ENGINEER),
    response=TakenUpOut,
    operation_id="take_up_revision",
)
def take_up(request: HttpRequest, number: Number, query: Query[TakeUpQuery]) -> HttpResponse:
    """Put the changes of a revision, also of one that was rolled back, into a change set, as a merge."""
    change = None if query.change is None else change_set(query.change)
    who = actor(request)

    def act(_request_id: str) -> Answer:
        taken = take_up_revision(who, number, change, query.keep)
        return Answer(200, TakenUpOut.model_validate(taken).model_dump(mode="json"))

    return once(request, who, act)


class WatchRules(Schema):
    """When the watch after a commit calls something worse."""

    rules: dict[str, str] = Field(description="By what is compared.")


@router.get("/watch/rules", auth=needs(Role.VIEWER), response=WatchRules, operation_id="get_watch_rules")
def watch_rules(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """When the watch after a commit calls something worse."""
    return {"rules": agent().watch_rules()}


@router.post("/keep", auth=needs(Role.OPERATOR), response={204: None}, operation_id="keep")
def keep(request: HttpRequest) -> Any:
    """Call the rollback of the watch off: the revision stays, whatever the watch sees."""
    changes.keep(actor(request))
    return Status(204, None)


@router.get("/commits", auth=needs(Role.VIEWER), response=CommitsUnderWay, operation_id="list_commits")
def list_commits(request: HttpRequest) -> Any:  # noqa: ARG001 - ninja's signature
    """The commit that runs, how far it is, and those that wait for their turn. Waits for none of them."""
    return changes.under_way()


@router.post(
    "/commits/{request_id}/cancel",
    auth=needs(Role.ENGINEER),
    response=CommitUnderWay,
    operation_id="cancel_commit",
)
def cancel_commit(request: HttpRequest, request_id: str) -> Any:
    """Stop a commit, whoever made it: one that waits at once, one that runs before its next step, undone.

    Refused (409) once it is being recorded. The answer is how it stands now; `GET commits/ID` tells its end.
    """
    return changes.cancel(actor(request), _known_form(request_id))


@router.get("/commits/{request_id}", auth=needs(Role.VIEWER), response=CommitOut, operation_id="get_commit")
def get_commit(request: HttpRequest, request_id: str) -> Any:  # noqa: ARG001 - ninja's signature
    """What became of a commit, by the id in its answer; while it is under way, how far it is."""
    return changes.outcome(_known_form(request_id)).model_dump()


def _known_form(request_id: str) -> str:
    if (
        not 1 <= len(request_id) <= 64
        or not all(one.isalnum() or one in "-_" for one in request_id)
        or not request_id.isascii()
    ):
        raise NotFound("There is no such commit.")
    return request_id
