"""The running document and the user's change set in one request: each is read once.

A post takes what was last seen to run and has the agent compare that with what runs when it stores something:
one question instead of two. Where something else runs by now, the post is made anew.
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
    """Something else runs than the request took for granted; nothing was stored."""

    def __init__(self, document: RunningDocument) -> None:
        self.document = document
        super().__init__(f"revision {document.revision} runs")


class WhatRuns:
    """What runs, for one request."""

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
        """Make sure of it. Raises Moved."""
        if not self._is_sure:
            self.told(running.now())

    def told(self, now: RunningDocument) -> None:
        """The agent has said what runs, too. Raises Moved."""
        if now.digest != self.document.digest:
            raise Moved(now)
        self._is_sure = True


def what_runs(request: HttpRequest) -> WhatRuns:
    """What runs: asked for once in a request. Raises AgentUnavailable."""
    found: WhatRuns | None = getattr(request, _NAME, None)
    if found is None:
        found = WhatRuns(running.now(), user_of(request), is_sure=True)
        setattr(request, _NAME, found)
    return found


def on_what_runs(request: HttpRequest, act: Callable[[], HttpResponse]) -> HttpResponse:
    """Answers a post, by what was last seen to run as long as that runs. Raises Conflict when none stays."""
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
        # It may have failed by what runs no more.
        taken.ask()
        raise
    taken.ask()
    return response
