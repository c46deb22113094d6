"""The lane of a request, by its method and path alone: no body is read and nothing is looked up."""

from __future__ import annotations

from webui.accounts.attempt_limits import Limit
from webui.http.lanes import LaneSize

SIGN_IN, STRANGERS = "sign-in", "stranger"
SENDERS = "sender"
"""Looks up who sends a large body, before it is read."""
OF_STRANGERS = Limit(20, 0.2)
"""The passwords of all strangers together: 5 a second, at most one CPU and mostly a third of it."""

SIZES = {
    "read": LaneSize(threads=4, waiting=32),
    "status": LaneSize(threads=2, waiting=16),
    "change": LaneSize(threads=8, waiting=32),
    "decide": LaneSize(threads=2, waiting=16),
    SIGN_IN: LaneSize(threads=1, waiting=8),
    STRANGERS: LaneSize(threads=1, waiting=8, pace=OF_STRANGERS),
    SENDERS: LaneSize(threads=2, waiting=16),
    "file": LaneSize(threads=1, waiting=64),
    "check": LaneSize(threads=1, waiting=256),
}
"""The number of their threads together is the number of database connections that this process ever holds."""

_SAFE = ("GET", "HEAD", "OPTIONS")
_STATUS = frozenset(("/status", "/api/v1/status", "/api/v1/state/health", "/api/v1/me"))
_COMMITS = "/api/v1/commits"
_DECIDING = ("/confirm", "/keep")
_OF_PAGES = ("/changes/cancel/", "/changes/finished/")


def lane_of(method: str, path: str) -> str:
    """The name of the lane: ``change`` for writes, ``status`` for short readings, and ``decide`` for
    decisions about a commit while it and others wait: confirm, keep, cancel, and ask for its progress.

    Signing in is separate, because it costs much and anybody may try. `webui.http.sign_in_door` distinguishes
    known sources, who take this lane, from strangers, who have one of their own.
    """
    if path.startswith("/static/"):
        return "file"
    if path == _COMMITS or path.startswith((f"{_COMMITS}/", *_OF_PAGES)):
        return "decide"
    if method not in _SAFE:
        if path.endswith(_DECIDING) and not path.startswith("/api/v1/config"):
            return "decide"
        return SIGN_IN if path == "/login" else "change"
    if path in _STATUS:
        return "status"
    return "read"


def is_for_programs(path: str) -> bool:
    """Whether an error there becomes a problem document instead of a page."""
    return path.startswith("/api/") or path in ("/api", "/metrics")
