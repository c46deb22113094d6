"""The running document and the user's change set in one request: each is read once.

A post uses the last running document that was seen, and the agent compares that with the running one when it
stores something: one question instead of two. If another document runs by then, the post is repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from appliance.errors import AgentUnavailable, Conflict, MillraceError
from webui.changes import running
from webui.changes import services as changes
from webui.changes.models import ChangeSet
from webui.changes.running import RunningDocument
from webui.ui.signed_in import user_of

_NAME = "what_runs"
_NOT_READ: Any = object()
_ATTEMPTS = 5


class Moved(Exception):
    """Another document runs than the request assumed; nothing was stored."""

    def __init__(self, document: RunningDocument) -> None:
        self.document = document
        super().__init__(f"revision {document.revision} runs")


class WhatRuns:
    """The running document, for one request."""

    def __init__(self, document: RunningDocument, user: Any, *, is_sure: bool) -> None:
        self.document, self._user = document, user
        self._is_sure = is_sure
        self._change: Any = _NOT_READ

    @property
    def change(self) -> ChangeSet | None:
        """The user's open change set."""
        if self._change is _NOT_READ:
            self._change = changes.current(self._user)
        found: ChangeSet | None = self._change
        return found

    @change.setter
    def change(self, change: ChangeSet) -> None:
        self._change = change

    def ask(self) -> None:
        """Verify it with the agent. Raises Moved."""
        if not self._is_sure:
            self.told(running.now())

    def told(self, now: RunningDocument) -> None:
        """The agent's answer also holds the running document. Raises Moved."""
        if now.digest != self.document.digest:
            raise Moved(now)
        self._is_sure = True


def what_runs(request: HttpRequest) -> WhatRuns:
    """The running document, read once for each request. Raises AgentUnavailable."""
    found: WhatRuns | None = getattr(request, _NAME, None)
    if found is None:
        found = WhatRuns(running.now(), user_of(request), is_sure=True)
        setattr(request, _NAME, found)
    return found


def on_what_runs(request: HttpRequest, act: Callable[[], HttpResponse]) -> HttpResponse:
    """Answers a post from the last running document seen, as long as that still runs. Raises Conflict
    when it keeps changing.
    """
    seen = running.last_seen()
    taken = WhatRuns(seen or running.now(), user_of(request), is_sure=seen is None)
    for _ in range(_ATTEMPTS):
        setattr(request, _NAME, taken)
        try:
            return _answered(taken, act)
        except Moved as moved:
            taken = WhatRuns(moved.document, user_of(request), is_sure=True)
    raise Conflict("Other commits came first, one after the other; save again.")


def _answered(taken: WhatRuns, act: Callable[[], HttpResponse]) -> HttpResponse:
    try:
        response = act()
    except AgentUnavailable:
        raise
    except (MillraceError, Http404):
        # It may have failed because of a document that no longer runs.
        taken.ask()
        raise
    taken.ask()
    return response
