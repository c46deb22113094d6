"""Refuses headers and cookies with a NUL byte, because PostgreSQL cannot take one."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from webui.http.error_pages import page
from webui.http.lane_choice import is_for_programs
from webui.problems import ProblemDocument

_NUL = "\x00"


class PlainTextMiddleware:
    """Answers 400 and names the header or cookie. A quoted cookie spells NUL as ``\\000`` (RFC 2109)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The application's answer, or 400."""
        where = _where(request)
        if where is None:
            return self._get_response(request)
        detail = f"The {where} contains a NUL byte."
        if is_for_programs(request.path):
            return ProblemDocument(400, detail).to_response()
        return page(request, 400, detail)


def _where(request: HttpRequest) -> str | None:
    for name, value in request.COOKIES.items():
        if _NUL in value or _NUL in name:
            return f"cookie {name[:64].replace(_NUL, '')}"
    for name, value in request.META.items():
        if name.startswith("HTTP_") and isinstance(value, str) and _NUL in value:
            return f"header {name[5:].replace('_', '-').title()}"
    return None
