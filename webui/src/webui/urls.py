"""Addresses."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path, re_path

from webui.api.api import api
from webui.metrics.views import metrics


def nothing_here(request: HttpRequest) -> HttpResponse:
    """Everything else below /api, so that the pages never handle it."""
    raise Http404(f"There is nothing at {request.path[:200]!r}.")


urlpatterns = [
    path("api/v1/", api.urls),
    re_path(r"^api(?:/.*)?\Z", nothing_here),
    path("metrics", metrics, name="metrics"),
    path("", include("webui.ui.urls")),
]

handler400 = "webui.http.error_pages.bad_request"
handler403 = "webui.http.error_pages.forbidden"
handler404 = "webui.http.error_pages.not_found"
handler500 = "webui.http.error_pages.server_error"
