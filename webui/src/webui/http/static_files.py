"""Static files by their hashed names, served by whitenoise from within the web process."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]  # ships none
from whitenoise.storage import (  # type: ignore[import-untyped]  # ships none
    CompressedManifestStaticFilesStorage,
)


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped
    """Names with content hashes, and gzip beside each file."""

    # Vendored files may name source maps that are not shipped.
    manifest_strict = False

    def hashed_name(self, name: str, content: Any = None, filename: str | None = None) -> str:
        """The hashed name; a referenced file that is not shipped keeps its own."""
        try:
            return str(super().hashed_name(name, content, filename))
        except ValueError:
            return name


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # untyped
    """Whitenoise, answering whole bodies: its file streams would block the event loop of ASGI."""

    def serve(self, static_file: Any, request: HttpRequest) -> HttpResponse:
        """The file, at most a few MB."""
        answer = static_file.get_response(request.method, request.META)
        body = b"" if answer.file is None else answer.file.read()
        if answer.file is not None:
            answer.file.close()
        response = HttpResponse(body, status=int(answer.status))
        del response["Content-Type"]
        for name, value in answer.headers:
            response[name] = value
        return response
