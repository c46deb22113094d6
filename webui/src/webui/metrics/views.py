"""What Prometheus scrapes."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from ninja.errors import AuthenticationError

from webui.accounts.roles import Role
from webui.api.auth import BearerToken
from webui.errors import RequestProblem
from webui.metrics.prometheus import exposition


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics, for an API token of any role; a session is not enough."""
    try:
        known = BearerToken(Role.VIEWER)(request)
    except AuthenticationError:
        known = None
    if known is None:
        raise RequestProblem(401, "Give a valid API token.", {"WWW-Authenticate": 'Bearer realm="millrace"'})
    return HttpResponse(exposition(), content_type="text/plain; version=0.0.4; charset=utf-8")
