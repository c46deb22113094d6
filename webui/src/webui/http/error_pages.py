"""Pages for errors outside the API."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import TemplateDoesNotExist

_TITLES = {
    400: "That request could not be read",
    403: "You may not do that",
    404: "There is no such page",
    500: "Something went wrong on the router's web server",
}


def _page(request: HttpRequest, status: int, detail: str = "") -> HttpResponse:
    context = {"status": status, "title": _TITLES[status], "detail": detail}
    try:
        return render(request, "ui/error.html", context, status=status)
    except TemplateDoesNotExist:
        return HttpResponse(f"{status}: {_TITLES[status]}", status=status, content_type="text/plain")


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """400."""
    return _page(request, 400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403; the reason is ours when it was raised on purpose."""
    return _page(request, 403, str(exception or ""))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django's signature
    """403 of a form whose token is missing or old."""
    return _page(request, 403, "The form was too old or came from another site. Load the page again.")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001 - Django's signature
    """404."""
    return _page(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, without any detail; a broken template must not break this."""
    try:
        return _page(request, 500)
    except Exception:
        return HttpResponse("500: internal error", status=500, content_type="text/plain")
