"""What a page shows when a service refuses or the router does not answer: a message, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from appliance.errors import AgentUnavailable, CommitFailed, Conflict, MillraceError, NotFound
from webui.errors import Forbidden, RequestProblem
from webui.http.error_pages import frame

View = Callable[..., HttpResponse]

_TITLES: tuple[tuple[type[Exception], int, str], ...] = (
    (AgentUnavailable, 503, "The router's agent does not answer"),
    (Forbidden, 403, "Not allowed"),
    (NotFound, 404, "Not found"),
    (Conflict, 409, "Something changed in the meantime"),
    (CommitFailed, 422, "The commit failed and was undone"),
    (MillraceError, 422, "That did not work"),
)


def _whole_login(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """A login is always a page of its own that leads back to a page that can be opened.

    A fragment gets 401, on which the page reloads. After a post it leads back to the page of the form,
    because the address of the post may not support GET.
    """
    if request.user.is_authenticated or response.status_code != 302:
        return response
    if request.headers.get("HX-Request"):
        return HttpResponse("Sign in again.", status=401, content_type="text/plain")
    if request.method not in ("GET", "HEAD"):
        came_from = urlsplit(request.headers.get("Referer", ""))
        here = came_from.netloc == request.get_host()
        query = f"?{came_from.query}" if came_from.query else ""
        return redirect_to_login(
            came_from.path + query if here and came_from.path else reverse("ui:dashboard")
        )
    return response


def guarded(view: View) -> View:
    """The view, with errors that services raise on purpose turned into pages."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return _whole_login(request, view(request, *args, **kwargs))
        except (MillraceError, Forbidden) as error:
            status, title = next(
                (status, title) for kind, status, title in _TITLES if isinstance(error, kind)
            )
            headers: dict[str, str] = {}
            if isinstance(error, RequestProblem):
                status, headers = error.status, error.headers
            context = {"status": status, "title": title, "detail": str(error), **frame(request)}
            response = render(request, "ui/error.html", context, status=status)
            for name, value in headers.items():
                response[name] = value
            return response

    return answer
