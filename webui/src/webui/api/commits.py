"""How a request asks for a commit, and the answer."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest
from ninja import Schema
from pydantic import Field

from appliance.state.commit_options import LONGEST_CONFIRM_S, CommitOptions
from appliance.state.commits import CommitOutcome, CommitUnderWay
from appliance.state.watch import LONGEST_WATCH_S
from webui.api.auth import actor
from webui.api.idempotency import Answer
from webui.api.schemas import Step
from webui.changes.commits import options_of

_ASYNC_WAIT_S = 0.2
"""So that what is refused at once is told at once."""
_CONFIRM_S = (
    "Undo the commit after this many seconds unless confirmed; 0 keeps it. If left out, it is kept, unless "
    "it touches the way by which you reach the router: then it is undone after 120 seconds, and "
    "`confirm_reason` says why."
)
_WATCH_S = (
    "Watch sessions and traffic for this many seconds, at least 5, and roll the commit back automatically "
    "if they get worse; 0 does not watch. If left out, they are watched for 30 seconds, and nothing is "
    "rolled back. What happened is in `watch` of the revision."
)


class CommitChoice(Schema):
    """How a commit is made, in a body or a query."""

    comment: str = Field("", max_length=500, description="Kept with the revision.")
    confirm_s: int | None = Field(None, ge=0, le=LONGEST_CONFIRM_S, description=_CONFIRM_S)
    watch_s: int | None = Field(None, ge=0, le=int(LONGEST_WATCH_S), description=_WATCH_S)

    @property
    def is_made(self) -> bool:
        """Whether anything was chosen."""
        return any(value not in (None, "") for value in self._chosen().values())

    def options(self, request: HttpRequest, request_id: str) -> CommitOptions:
        """The options of this request, which waits hardly at all with ``Prefer: respond-async`` (RFC 7240).

        Raises ValidationFailed.
        """
        preferences = [one.strip().lower() for one in request.headers.get("Prefer", "").split(",")]
        wait_s = _ASYNC_WAIT_S if "respond-async" in preferences else None
        return options_of(actor(request), request_id=request_id, wait_s=wait_s, **self._chosen())

    def _chosen(self) -> dict[str, Any]:
        return self.model_dump(include=set(CommitChoice.model_fields))


class CommitOut(Schema):
    """What became of a commit."""

    request_id: str
    state: Literal["done", "failed", "running"]
    revision: int | None
    steps: list[Step]
    error: dict[str, Any] | None
    confirm_expires_at: str | None = Field(description="The commit is undone then, unless confirmed.")
    confirm_reason: str = Field(description="Why, when nobody asked for it; else empty.")
    reopened: list[str] = Field(
        default_factory=list,
        description="What it set up again that the revision before had kept closed, a sentence each.",
    )
    watch_s: float | None = Field(None, description="How long sessions and traffic are watched.")
    rolls_back: bool = Field(
        False, description="It is rolled back automatically if sessions or traffic get worse."
    )
    progress: CommitUnderWay | None = Field(
        None, description="How far it is while it is `running`: its place in the queue, or its step."
    )


def commit_answer(outcome: CommitOutcome) -> Answer:
    """200 for a commit that is done; 202 with the address to ask at for one that still runs."""
    body = CommitOut.model_validate(outcome.model_dump()).model_dump(mode="json")
    location = f"/api/v1/commits/{outcome.request_id}"
    if outcome.state == "running":
        return Answer(202, body, {"Location": location})
    return Answer(200, body, {"Content-Location": location})
