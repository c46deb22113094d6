"""The API object: its operations, and the handling of errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI, Swagger
from ninja.errors import AuthenticationError, HttpError, Throttled, ValidationError

from appliance.config.problem_text import field_at, problems_of_request
from appliance.errors import MillraceError
from webui import __version__
from webui.accounts.roles import Role
from webui.api import openapi
from webui.api.auth import needs
from webui.api.bodies import JsonParser
from webui.api.operations import (
    actions,
    alarms,
    benches,
    captures,
    changes,
    config,
    counters,
    logs,
    people,
    revisions,
    state,
    status,
    tools,
    traces,
    upgrade,
)
from webui.api.query_names import only_known_names
from webui.api.unasked_bodies import no_unasked_body
from webui.problems import ProblemDocument, from_exception, not_valid

_DESCRIPTION = """The configuration of the router and everything around it.

Authenticate with `Authorization: Bearer <token>`. One write is one commit, unless `?change=` collects it in a
change set. Errors are problem documents (RFC 9457) whose `errors` name the place by JSON pointer. A query
parameter that an operation does not list, or that is given twice, is refused with 422, and so is a body where
none is taken.
"""


def signed_in(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Shows the API's description to its users, by token or session; pages send others to the login."""

    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        try:
            if any(way(request) for way in needs(Role.VIEWER)):
                return view(request, **kwargs)
        except MillraceError as error:
            return on_refusal(request, error)
        except AuthenticationError as error:
            return on_stranger(request, error)
        if request.path.endswith("/docs"):
            return redirect_to_login(request.get_full_path())
        return on_stranger(request, AuthenticationError())

    return checked


class MillraceApi(NinjaAPI):
    """Ninja's API, with the configuration's own schema in its OpenAPI document."""

    def get_openapi_schema(self, **kwargs: Any) -> Any:
        """The OpenAPI 3.1 document."""
        return openapi.complete(super().get_openapi_schema(**kwargs))


api = MillraceApi(
    title="Millrace",
    version=__version__,
    description=_DESCRIPTION,
    urls_namespace="api",
    docs=Swagger(
        settings={"persistAuthorization": False, "docExpansion": "none", "defaultModelsExpandDepth": 0}
    ),
    docs_decorator=signed_in,
    parser=JsonParser(),
    openapi_extra={"info": {"license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}}},
)
api.add_decorator(only_known_names, mode="view")
api.add_decorator(no_unasked_body, mode="view")
# The paths of the configuration catch all below /config, so they come last.
for part in (
    *(status, changes, revisions, state, alarms, actions, counters, captures, traces, logs, tools),
    *(people, benches, upgrade, config),
):
    api.add_router("", part.router)


@api.exception_handler(MillraceError)
def on_refusal(request: HttpRequest, error: Exception) -> HttpResponse:  # noqa: ARG001 - ninja's signature
    """Errors that services raise on purpose."""
    return _answer(error)


@api.exception_handler(AuthenticationError)
def on_stranger(request: HttpRequest, error: Exception) -> HttpResponse:  # noqa: ARG001 - ninja's signature
    """The caller is anonymous, or the token is not valid."""
    headers = {"WWW-Authenticate": 'Bearer realm="millrace"'}
    return ProblemDocument(401, "Give a valid API token, or sign in.", headers=headers).to_response()


@api.exception_handler(ValidationError)
def on_bad_input(request: HttpRequest, error: ValidationError) -> HttpResponse:  # noqa: ARG001 - ninja's signature
    """Parameters or a body that do not match the operation."""
    return not_valid(tuple(_entries(error.errors[:100]))).to_response()


@api.exception_handler(Throttled)
def on_too_many(request: HttpRequest, error: Throttled) -> HttpResponse:  # noqa: ARG001 - ninja's signature
    """Too many requests."""
    headers = {"Retry-After": str(int(error.wait or 1) + 1)}
    return ProblemDocument(429, "Too many requests.", headers=headers).to_response()


@api.exception_handler(HttpError)
def on_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:  # noqa: ARG001 - ninja's signature
    """Ninja's own errors; for a body that could not be parsed, the cause is reported."""
    cause = error.__cause__ or error.__context__
    if isinstance(cause, Exception) and from_exception(cause) is not None:
        return _answer(cause)
    return ProblemDocument(error.status_code, error.message).to_response()


def _answer(error: Exception) -> HttpResponse:
    problem = from_exception(error)
    assert problem is not None
    return problem.to_response()


def _entries(details: Iterable[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """Place and message: a pointer into the body, or the parameter's name as one."""
    found: dict[str, list[dict[str, Any]]] = {}
    for detail in details:
        place, *tokens = field_at(detail["loc"])
        tokens = tokens[1:] if place == "body" else tokens[-1:]
        found.setdefault(str(place), []).append({**detail, "loc": tokens})
    for place, there in found.items():
        for one in problems_of_request(there):
            yield {"pointer": one.pointer, "in": place, "detail": one.message}
