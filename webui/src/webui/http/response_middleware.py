"""A middleware that processes only the response, sync and async."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase


class ResponseMiddleware(ABC):
    """A subclass defines in ``answered`` how a response is changed."""

    async_capable = True
    sync_capable = True

    def __init__(
        self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]
    ) -> None:
        self._get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """The result of ``answered`` for the response."""
        response = self._get_response(request)
        if isinstance(response, HttpResponseBase):
            return self.answered(request, response)
        return self._later(request, response)

    async def _later(self, request: HttpRequest, response: Awaitable[HttpResponseBase]) -> HttpResponseBase:
        return self.answered(request, await response)

    @abstractmethod
    def answered(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The response to send."""
