"""A body that an operation does not accept is refused, not ignored, because the sender intended something
by it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja.operation import Operation

from webui.problems import not_valid

_IN_BODY = frozenset({"body", "form", "file"})
_READ_THEM_THEMSELVES = frozenset({"PUT", "PATCH"})
"""Each of these accepts a body, whether its signature says so or not."""
_NOTHING = (b"", b"{}")


def takes_body(operation: Operation) -> bool:
    """Whether the operation uses a body."""
    if not _READ_THEM_THEMSELVES.isdisjoint(operation.methods):
        return True
    return any(model.__ninja_param_source__ in _IN_BODY for model in operation.models)


def no_unasked_body(run: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A decorator of mode `view` for all operations of an API. A permitted caller gets 422 for a body
    that the operation does not accept. An empty object is accepted: some clients always send it.
    """
    operation = unwrap(run).__self__  # the method of an operation
    assert isinstance(operation, Operation)
    if takes_body(operation):
        return run

    @wraps(run)
    def checked(request: HttpRequest, **in_path: Any) -> HttpResponseBase:
        if _says_nothing(request):
            return run(request, **in_path)
        refused = operation._run_checks(request)
        detail = "this operation takes no body; its parameters are in the path and the query string"
        return refused or not_valid(({"pointer": "", "in": "body", "detail": detail},)).to_response()

    return checked


def _says_nothing(request: HttpRequest) -> bool:
    try:
        return request.body.strip() in _NOTHING
    except RequestDataTooBig:
        return False
