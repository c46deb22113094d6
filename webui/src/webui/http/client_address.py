"""Who is at the other end."""

from __future__ import annotations

from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The peer's address; behind a trusted proxy the ASGI layer has put the real one there already."""
    return str(request.META.get("REMOTE_ADDR") or "0.0.0.0")
