"""Headers that tell the browser what this site never does."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase

from webui.http.response_middleware import ResponseMiddleware

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""No inline script, no inline style, nothing from elsewhere (CSP level 3)."""


class SecurityHeadersMiddleware(ResponseMiddleware):
    """Adds the content security policy and related headers to every response; works sync and async."""

    def answered(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The response, with its headers."""
        return _with_headers(request, response)


def _with_headers(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
    response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=(), usb=()")
    response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    if not request.path.startswith("/static/"):
        response.headers.setdefault("Cache-Control", "no-store")
    return response
