"""What a page shows when a service refuses or the router does not answer: words, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from appliance.errors import AgentUnavailable, CommitFailed, Conflict, MillraceError, NotFound
from webui.errors import Forbidden

View = Callable[..., HttpResponse]

_TITLES: tuple[tuple[type[Exception], int, str], ...] = (
    (AgentUnavailable, 503, "The router's agent does not answer"),
    (Forbidden, 403, "Not allowed"),
    (NotFound, 404, "Not found"),
    (Conflict, 409, "Something changed meanwhile"),
    (CommitFailed, 422, "The commit failed and was undone"),
    (MillraceError, 422, "That did not work"),
)


def guarded(view: View) -> View:
    """The view, with the errors that services raise on purpose turned into pages."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except (MillraceError, Forbidden) as error:
            status, title = next(
                (status, title) for kind, status, title in _TITLES if isinstance(error, kind)
            )
            return render(
                request,
                "ui/error.html",
                {"status": status, "title": title, "detail": str(error)},
                status=status,
            )

    return answer
