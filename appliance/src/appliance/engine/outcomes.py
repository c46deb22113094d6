"""How a request ended, as kept and shown; and the fingerprint that distinguishes it from others."""

from __future__ import annotations

from typing import Any

from appliance.config.dump import VERSION, Texts, digest_of
from appliance.engine.jobs import fingerprint
from appliance.engine.records import CommitError, CommitRequest, Failure
from appliance.engine.turns import Cancelled
from appliance.errors import (
    CommitCancelled,
    CommitFailed,
    Conflict,
    MillraceError,
    NotFound,
    StorageFull,
    ValidationFailed,
)


def mark_of(request: CommitRequest, texts: Texts | None = None) -> str:
    """Distinguishes the request from others with its id. ``texts`` are those of its document, if known.

    A repeated request may find another running revision than the first time.
    """
    what: Any = request.document if request.edit is None else request.edit.model_dump()
    if request.edit is None and texts is not None:
        what = [digest_of(texts), request.document.get(VERSION)]
    base: Any = request.base_revision if request.match is None else request.match
    return fingerprint(
        what,
        request.options.author,
        request.options.comment,
        base if request.edit is None else None,
        *request.options.timers,
    )


def error_of(error: Exception) -> CommitError:
    """A failure as kept and shown."""
    match error:
        case Cancelled():
            return CommitError("cancel", f"{error} before it changed anything", "cancelled")
        case CommitCancelled():
            return CommitError("cancel", str(error), "cancelled", undone=error.undone)
        case CommitFailed():
            return CommitError(error.step, error.cause, undone=error.undone)
        case ValidationFailed():
            return CommitError("validate", str(error), "validation", problems=error.problems)
        case Conflict():
            return CommitError("begin", str(error), "conflict")
        case NotFound():
            return CommitError("begin", str(error), "not_found")
        case StorageFull():
            return CommitError("begin", str(error), "storage")
    kind: Failure = "unavailable" if isinstance(error, MillraceError) else "step"
    return CommitError("observe the router", str(error) or type(error).__name__, kind)
