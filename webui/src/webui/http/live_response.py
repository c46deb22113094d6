"""A streamed answer whose reader's permission is checked again from time to time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from django.http import StreamingHttpResponse


class LiveResponse(StreamingHttpResponse):
    """A stream that ends when `still_allowed`, which may ask the database, says False."""

    def __init__(
        self, content: AsyncIterator[bytes], still_allowed: Callable[[], bool], content_type: str
    ) -> None:
        # Neither a proxy nor a browser may buffer parts of it.
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        super().__init__(content, content_type=content_type, headers=headers)
        self.still_allowed = still_allowed
