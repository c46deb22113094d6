"""Errors as problem documents (RFC 9457), with JSON pointers for those that have places."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus

from aiohttp import web
from pydantic import ValidationError

from appliance.config.problem_text import problems_of_request
from appliance.engine.backend import StepError
from appliance.errors import (
    Conflict,
    MillraceError,
    NotFound,
    Problem,
    RouterUnavailable,
    Stale,
    StorageFull,
    ValidationFailed,
)
from appliance.upgrade.errors import UpgradeRefused

log = logging.getLogger(__name__)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def problem(status: int, detail: str, problems: Sequence[Problem] = (), digest: str = "") -> web.Response:
    """A problem document; with the ``digest`` of the running document if the request named another."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "errors": [{"pointer": entry.pointer, "detail": entry.message} for entry in problems],
        **({"digest": digest} if digest else {}),
    }
    return web.json_response(body, status=status, content_type="application/problem+json")


def of_error(error: MillraceError) -> web.Response:
    """The problem document for an error of ours."""
    match error:
        case ValidationFailed():
            return problem(422, str(error), error.problems)
        case Stale():
            return problem(412, str(error), digest=error.digest)
        case Conflict() | UpgradeRefused():
            return problem(409, str(error))
        case NotFound():
            return problem(404, str(error))
        case RouterUnavailable() | StepError():
            return problem(503, str(error))
        case StorageFull():
            return problem(507, str(error))
    return problem(500, str(error))


def of_request(error: ValidationError) -> web.Response:
    """The problem document for a request that cannot be read."""
    return problem(422, "the request is not valid", problems_of_request(error.errors(include_url=False)))


@web.middleware
async def problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn any error that a handler raises into a problem document."""
    try:
        return await handler(request)
    except MillraceError as error:
        return of_error(error)
    except ValidationError as error:
        return of_request(error)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        return problem(error.status, error.text or error.reason)
    except (ConnectionResetError, ConnectionAbortedError):
        raise
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        return problem(500, "the agent failed; its log says more")
