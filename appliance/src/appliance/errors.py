"""Errors that cross a boundary: from the agent to its callers, from validation to the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a document.

    ``pointer`` is a JSON pointer (RFC 6901) into the document; ``message`` is a sentence for a network
    engineer.
    """

    pointer: str
    message: str


class MillraceError(Exception):
    """Base of all errors raised on purpose."""


class ValidationFailed(MillraceError):
    """The document is not valid; ``problems`` says where and why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            "; ".join(": ".join(filter(None, (one.pointer, one.message))) for one in problems[:5])
        )


class Conflict(MillraceError):
    """The request was based on a revision that no longer runs, or another commit is under way."""


class Stale(Conflict):
    """The request was for a document that does not run. Nothing was begun; ``digest`` is of what runs."""

    def __init__(self, message: str, digest: str) -> None:
        self.digest = digest
        super().__init__(message)


class NotFound(MillraceError):
    """The requested object does not exist."""


class CommitFailed(MillraceError):
    """A step failed and everything before it was undone; ``step`` is its summary, ``cause`` the reason.

    ``undone`` is False when the router could not be restored at once; the agent keeps trying.
    """

    def __init__(self, step: str, cause: str, undone: bool = True) -> None:
        self.step, self.cause, self.undone = step, cause, undone
        super().__init__(
            f"{step}: {cause}" + ("" if undone else " (and the undo is not complete: see drift)")
        )


class CommitCancelled(CommitFailed):
    """Somebody cancelled the commit; the text says who, and whether the router is as before."""

    def __init__(self, text: str, undone: bool = True) -> None:
        super().__init__("cancel", text, undone)

    def __str__(self) -> str:
        return self.cause


class RouterUnavailable(MillraceError):
    """A part of the router that is needed for this (VPP, FRR) does not answer. Nothing was changed."""


class StorageFull(MillraceError):
    """The disk that holds the router's revisions is full. Nothing was changed."""


class AgentUnavailable(MillraceError):
    """The agent's socket does not answer."""


class AgentRefused(MillraceError):
    """The agent refused for a reason other than the document: the caller, or a fault of its own."""
