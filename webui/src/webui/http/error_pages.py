"""Pages for errors outside the API."""

from __future__ import annotations

import functools
import sys
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import TemplateDoesNotExist
from django.template.loader import render_to_string

from webui.database_outage import is_nul, is_outage, outage_log
from webui.http.lane_choice import is_for_programs
from webui.problems import from_exception

_TITLES = {
    400: "That request could not be read",
    403: "You may not do that",
    404: "There is no such page",
    500: "Something went wrong on the router's web server",
}

_FAULTS = 500
"""From here on the web half itself has a fault: its pages depend on nothing else."""


def page(request: HttpRequest, status: int, detail: str = "") -> HttpResponse:
    """The page of an error; plain text where its template is missing."""
    around = {} if status >= _FAULTS else frame(request)
    context = {"status": status, "title": _TITLES[status], "detail": detail, **around}
    try:
        return render(request, "ui/error.html", context, status=status)
    except TemplateDoesNotExist:
        return HttpResponse(f"{status}: {_TITLES[status]}", status=status, content_type="text/plain")


def frame(request: HttpRequest) -> dict[str, Any]:
    """What surrounds an error for who asked: the menu for a user, for others the way to sign in.

    Empty where the user or the frame cannot be read, as while the database is down.
    """
    try:
        if request.user.is_authenticated:
            from webui.ui.page import frame_of

            return frame_of(request, "")
        return {"sign_in": redirect_to_login(_page_of(request)).url}
    except Exception:
        return {}


def _page_of(request: HttpRequest) -> str:
    """The page that was asked for; for a form that was sent, the page it is on."""
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    sent_from = urlsplit(request.headers.get("Referer", ""))
    return sent_from.path if sent_from.netloc == request.get_host() and sent_from.path else "/"


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """400."""
    return page(request, 400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403; shows our own reason when it was raised on purpose."""
    return page(request, 403, str(exception or ""))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django's signature
    """403 for a form whose token is missing or outdated."""
    detail = "The form was too old or came from another site. Load the page again."
    if not request.COOKIES:
        detail = "This browser sent no cookies, so you are not signed in. Sign in and send the form again."
    return page(request, 403, detail)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404; shows our own reason when it was raised on purpose. For an unknown address Django would list
    the others.
    """
    reason = exception.args[0] if exception is not None and exception.args else ""
    return page(request, 404, reason if isinstance(reason, str) else "")


def server_error(request: HttpRequest) -> HttpResponse:
    """Uncaught errors, also of middleware: 503 when the database is unavailable, otherwise 500 without any
    detail.

    Called while the exception is handled. A broken template must not break this.
    """
    error = sys.exc_info()[1]
    try:
        if isinstance(error, Exception) and (response := _told(request, error)) is not None:
            return response
        return page(request, 500)
    except Exception:
        return HttpResponse("500: internal error", status=500, content_type="text/plain")


def _told(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """The answer to a database error that has one; a problem document for programs."""
    if is_outage(error):
        outage_log.tell(f"{request.method} {request.path[:200]}", error)
    elif not is_nul(error):
        return None
    problem = from_exception(error)
    assert problem is not None
    response: HttpResponse = problem.to_response()
    if not is_for_programs(request.path):
        text = _page_alone(problem.status, problem.title or _TITLES[problem.status], problem.detail)
        response = HttpResponse(text, status=problem.status, headers=dict(problem.headers))
    # Django logs a traceback for each unlogged answer from 500 on; the outage is already logged.
    response._has_been_logged = True  # type: ignore[attr-defined]  # how Django's log_response marks it
    return response


@functools.cache
def _page_alone(status: int, title: str, detail: str) -> str:
    """Rendered without the request, because its user would be read from the database."""
    return render_to_string("ui/error.html", {"status": status, "title": title, "detail": detail})
