"""Problem details (RFC 9457): one shape for every error of the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, JsonResponse

from appliance.errors import (
    AgentRefused,
    AgentUnavailable,
    CommitCancelled,
    CommitFailed,
    Conflict,
    MillraceError,
    NotFound,
    Problem,
    RouterUnavailable,
    StorageFull,
    ValidationFailed,
)
from webui import database_outage
from webui.database_outage import is_nul, is_outage
from webui.errors import Forbidden, MergeConflicts, RequestProblem

CONTENT_TYPE = "application/problem+json"


@dataclass(frozen=True)
class ProblemDocument:
    """What went wrong. ``errors`` holds ``{"pointer": ..., "detail": ...}`` for each place."""

    status: int
    detail: str
    title: str = ""
    type: str = "about:blank"
    errors: tuple[Mapping[str, Any], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The body."""
        return {
            "type": self.type,
            "title": self.title or HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "errors": [dict(error) for error in self.errors],
        }

    def to_response(self) -> JsonResponse:
        """As an HTTP response."""
        return JsonResponse(
            self.to_json(), status=self.status, content_type=CONTENT_TYPE, headers=dict(self.headers)
        )


def not_valid(errors: tuple[Mapping[str, Any], ...]) -> ProblemDocument:
    """Parameters, a body or a document that do not match the expected form."""
    return ProblemDocument(422, "The request is not valid.", "Not valid", "urn:millrace:validation", errors)


def _entries(problems: tuple[Problem, ...]) -> tuple[dict[str, str], ...]:
    return tuple({"pointer": problem.pointer, "detail": problem.message} for problem in problems)


def from_exception(error: Exception) -> ProblemDocument | None:
    """The problem document of an error that was raised on purpose; None for any other error."""
    match error:
        case ValidationFailed():
            return not_valid(_entries(error.problems))
        case MergeConflicts():
            conflicts = tuple(
                {"pointer": conflict.path, "detail": "was changed here and in the running configuration",
                 "base": conflict.base, "ours": conflict.ours, "theirs": conflict.theirs}
                for conflict in error.conflicts
            )  # fmt: skip
            return ProblemDocument(
                409, str(error), "Merge conflict", "urn:millrace:merge-conflict", conflicts
            )
        case CommitCancelled():
            return ProblemDocument(
                409, str(error), "The commit was cancelled", "urn:millrace:commit-cancelled",
                ({"pointer": "", "detail": error.cause},),
            )  # fmt: skip
        case CommitFailed():
            detail = f"{error.step}: {error.cause}" if error.step else str(error)
            return ProblemDocument(
                409, detail, "The commit failed" + (" and was undone" if error.undone else ""),
                "urn:millrace:commit-failed", ({"pointer": "", "detail": error.cause, "step": error.step},),
            )  # fmt: skip
        case RequestProblem():
            places = () if error.pointer is None else ({"pointer": error.pointer, "detail": error.detail},)
            return ProblemDocument(error.status, error.detail, errors=places, headers=error.headers)
        case AgentUnavailable():
            return ProblemDocument(
                503,
                "The router's agent does not answer.",
                type="urn:millrace:agent-unavailable",
                headers={"Retry-After": "2"},
            )
        case RouterUnavailable():
            return ProblemDocument(
                503, str(error), type="urn:millrace:router-unavailable", headers={"Retry-After": "2"}
            )
        case StorageFull():
            return ProblemDocument(507, str(error), "The disk is full", "urn:millrace:storage-full")
        case AgentRefused():
            return ProblemDocument(502, str(error), "The agent refused", "urn:millrace:agent-refused")
    for kind, status in (
        (Conflict, 409), (NotFound, 404), (Forbidden, 403), (MillraceError, 400), (Http404, 404),
        (PermissionDenied, 403), (RequestDataTooBig, 413), (SuspiciousOperation, 400),
    ):  # fmt: skip
        if isinstance(error, kind):
            return ProblemDocument(status, str(error)[:500] or HTTPStatus(status).phrase)
    if is_outage(error):
        return ProblemDocument(
            503,
            database_outage.DETAIL,
            "The database does not answer",
            "urn:millrace:database-unavailable",
            headers={"Retry-After": str(database_outage.RETRY_AFTER_S)},
        )
    if is_nul(error):
        return ProblemDocument(400, "The request contains a NUL byte where it cannot be kept.")
    return None
