"""The router's state that every page shows, without asking the agent for each page."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache

from appliance.errors import MillraceError
from webui.agent import agent
from webui.alarms import with_own

_KEY = "router-status"
_SECONDS = 1


def status() -> dict[str, Any] | None:
    """The agent's status, at most a second old; None when it does not answer. Never raises."""
    known: dict[str, Any] | None = cache.get(_KEY)
    if known is None:
        try:
            known = with_own(agent().status())
        except MillraceError:
            return None
        cache.set(_KEY, known, _SECONDS)
    return known


def pending_confirm() -> dict[str, Any] | None:
    """The commit that waits for its confirmation, ``{revision, expires_at, seconds_left}``, or None."""
    known = status()
    return known.get("pending_confirm") if known else None


def forget() -> None:
    """Discard the kept answer, because something was just changed."""
    cache.delete(_KEY)
