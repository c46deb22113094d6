"""Live state, as the agent reads it from the data plane and FRR: an operation for each of its parts."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import BaseModel, ValidationError, create_model

from appliance.config.problem_text import message_of, problems_of_request
from appliance.errors import NotFound, ValidationFailed
from appliance.state import PARTS, AnyPart
from webui.accounts.roles import Role
from webui.agent import agent
from webui.api.auth import needs

router = Router(tags=["state"])


def operation_id(part: AnyPart) -> str:
    """As the API's description names the operation."""
    return f"get_{part.name.replace('-', '_')}_state"


def _register(part: AnyPart) -> None:
    router.get(
        f"/state/{part.where}",
        auth=needs(Role.VIEWER),
        response=part.answer,
        operation_id=operation_id(part),
        summary=part.name.replace("-", " ").title(),
        description=part.summary,
    )(_view(part))


def _view(part: AnyPart) -> Callable[..., Any]:
    """A view whose signature has the fields of the part's question, in the path and in the query."""

    def view(request: HttpRequest, query: BaseModel | None = None, **in_path: str) -> Any:  # noqa: ARG001 - ninja's signature
        given = {} if query is None else query.model_dump(exclude_unset=True)
        try:
            question = part.asked({**given, **in_path})
        except ValidationError as error:
            # Fields of the query were validated one by one: it is a name in the path that cannot be one, or
            # two fields that do not go together.
            first = error.errors(include_url=False)[0]
            if first["loc"][0] not in part.in_path:
                raise ValidationFailed(problems_of_request(error.errors(include_url=False))) from None
            raise NotFound(f"{first['loc'][0]}: {message_of(first)}") from None
        return agent().state(part, question)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    parameters += [inspect.Parameter(name, keyword, annotation=str) for name in part.in_path]
    if (asked := _query(part)) is not None:
        parameters.append(inspect.Parameter("query", keyword, annotation=cast("Any", Query)[asked]))
    vars(view)["__signature__"] = inspect.Signature(parameters)
    return view


def _query(part: AnyPart) -> Any:
    """The model of what the query string may hold; None for nothing."""
    fields: dict[str, Any] = {
        name: (field.annotation, field)
        for name, field in part.question.model_fields.items()
        if name not in part.in_path
    }
    return create_model(f"{part.question.__name__}String", **fields) if fields else None


for _part in PARTS:
    _register(_part)
