"""What an operator can do to the running router without a commit: an operation for each action."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from ninja import Router

from appliance.actions import ACTIONS, AnyAction, Done
from appliance.state import Question
from webui import router_actions
from webui.accounts.roles import Role
from webui.api.auth import actor, needs

router = Router(tags=["actions"])


def _register(action: AnyAction) -> None:
    router.post(
        f"/actions/{action.name}",
        auth=needs(Role.OPERATOR),
        response=Done,
        operation_id=action.name.replace("-", "_"),
        summary=action.name.replace("-", " ").capitalize(),
        description=action.summary,
    )(_view(action))


def _view(action: AnyAction) -> Callable[..., Any]:
    """A view whose body is the action's question."""

    def view(request: HttpRequest, body: Question) -> Any:
        return router_actions.act(actor(request), action, body)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter("request", kind),
        inspect.Parameter("body", kind, annotation=action.question),
    ]
    vars(view)["__signature__"] = inspect.Signature(parameters)
    return view


for _action in ACTIONS:
    _register(_action)
