"""Logs of the router's parts."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router

from appliance.state.logs import LogPage, LogQuery
from webui import router_logs
from webui.accounts.roles import Role
from webui.api.auth import actor, needs

router = Router(tags=["logs"])


@router.get("/logs", auth=needs(Role.OPERATOR), response=LogPage, operation_id="get_logs")
def page(request: HttpRequest, query: Query[LogQuery]) -> Any:
    """The newest lines that match, or those after or before another page; known secrets are struck out.

    A page looks at a bounded part of the logs: where it has fewer lines than asked for and `oldest` is set,
    ask for those before. Each page is in the audit log but those that go
    on from the `newest` of a page that the same user was given for the same question.
    """
    return router_logs.page(actor(request), query)
