"""Every error of /api leaves as a problem document, wherever it was raised."""

from __future__ import annotations

import logging
from http import HTTPStatus

from django.http import HttpRequest, HttpResponseBase

from webui.database_outage import is_outage, outage_log
from webui.http.lane_choice import is_for_programs
from webui.http.response_middleware import ResponseMiddleware
from webui.problems import CONTENT_TYPE, ProblemDocument, from_exception

_log = logging.getLogger(__name__)
_DETAILS = {
    404: "There is nothing at this address.",
    405: "This method cannot be used here.",
    413: "The request is too large.",
}


class ApiProblemsMiddleware(ResponseMiddleware):
    """Turns errors of Django itself (404, 405, 413) and unforeseen exceptions below /api into RFC 9457."""

    def answered(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The response; for an error of the API, a problem document."""
        return _as_problem(request, response)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        """Exceptions of API views; other pages have Django's own error pages."""
        if not _is_api(request):
            return None
        if is_outage(error):
            outage_log.tell(f"{request.method} {request.path[:200]}", error)
        problem = from_exception(error)
        if problem is None:
            _log.error("unforeseen error in %s %s", request.method, request.path, exc_info=error)
            problem = ProblemDocument(500, "An unforeseen error; the log of the web process has it.")
        return problem.to_response()


def _is_api(request: HttpRequest) -> bool:
    return is_for_programs(request.path)


def _as_problem(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if response.status_code < 400 or not _is_api(request):
        return response
    if response.headers.get("Content-Type", "").startswith(CONTENT_TYPE):
        return response
    detail = _DETAILS.get(response.status_code, HTTPStatus(response.status_code).phrase)
    kept = {name: response.headers[name] for name in ("Allow", "Retry-After") if name in response.headers}
    return ProblemDocument(response.status_code, detail, headers=kept).to_response()
