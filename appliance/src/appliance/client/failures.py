"""From the agent's answers back to the errors that its code raised."""

from __future__ import annotations

from typing import Any

import httpx

from appliance.client.answers import CommitAnswer
from appliance.errors import (
    AgentRefused,
    CommitCancelled,
    CommitFailed,
    Conflict,
    MillraceError,
    NotFound,
    Problem,
    RouterUnavailable,
    Stale,
    StorageFull,
    ValidationFailed,
)


def error_of(status: int, body: bytes) -> MillraceError:
    """The error in a problem document (RFC 9457)."""
    try:
        problem: dict[str, Any] = dict(httpx.Response(status, content=body).json())
    except ValueError:
        return AgentRefused(f"the agent answered {status}")
    detail = str(problem.get("detail") or problem.get("title") or status)
    if status in (400, 413, 422):
        entries = problem.get("errors") or [{"pointer": "", "detail": detail}]
        return ValidationFailed(
            [Problem(str(entry.get("pointer", "")), str(entry.get("detail", ""))) for entry in entries]
        )
    if status == 412:
        return Stale(detail, str(problem.get("digest", "")))
    kinds: dict[int, type[MillraceError]] = {
        404: NotFound,
        409: Conflict,
        503: RouterUnavailable,
        507: StorageFull,
    }
    return kinds.get(status, AgentRefused)(detail)


def raise_failed(answer: CommitAnswer) -> CommitAnswer:
    """The answer of a commit, unless it failed: then CommitFailed, ValidationFailed, Conflict or NotFound."""
    error = answer.error
    if answer.state != "failed" or error is None:
        return answer
    message = str(error["message"])
    match error.get("kind"):
        case "validation":
            raise ValidationFailed([Problem(**problem) for problem in error["problems"]])
        case "conflict":
            raise Conflict(message)
        case "not_found":
            raise NotFound(message)
        case "storage":
            raise StorageFull(message)
        case "cancelled":
            raise CommitCancelled(message, bool(error.get("undone", True)))
    raise CommitFailed(str(error["step"]), message, bool(error.get("undone", True)))
