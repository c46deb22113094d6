"""Reading requests: JSON bodies and queries into their models."""

from __future__ import annotations

from typing import TypeVar

from aiohttp import web
from pydantic import BaseModel

from appliance.config.load import MAX_BYTES, parse_json
from appliance.errors import Problem, ValidationFailed

M = TypeVar("M", bound=BaseModel)
MAX_BODY_BYTES = MAX_BYTES


async def body(request: web.Request, model: type[M]) -> M:
    """The body as ``model``. Raises ValidationFailed or pydantic's ValidationError."""
    data = parse_json(await request.read() or b"{}")
    if not isinstance(data, dict):
        raise ValidationFailed([Problem("", "a request body is a JSON object")])
    return model.model_validate(data)


def query(request: web.Request, model: type[M]) -> M:
    """The query string as ``model``. Raises pydantic's ValidationError."""
    return model.model_validate(dict(request.query))
