"""One route map, rule by rule."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.ui.api_call import calls_for
from webui.ui.page import look_at_candidate, missing, show
from webui.ui.pager import pager
from webui.ui.pages.policies import ordered, phrases
from webui.ui.pointers import join
from webui.ui.tables.detail import row_at, users_of

_RULES = 200
"""The most rules on one page."""


@require_GET
@role_required(Role.VIEWER)
def route_map(request: HttpRequest, name: str) -> HttpResponse:
    """One route map, rule by rule."""
    candidate, away = look_at_candidate(request)
    pointer = "/routing/policy/route_maps" + join(name)
    row = row_at(candidate, pointer)
    if row is None:
        raise missing(candidate, f"There is no route map {name}.")
    ruled = pager(request, "rules", ordered(candidate.both(f"{pointer}/rules")), _RULES)
    rules = [
        {
            "sequence": sequence,
            "rule": rule,
            "match": phrases(rule.get("match")),
            "set": phrases(rule.get("set")),
            "mark": candidate.mark(f"{pointer}/rules{join(sequence)}"),
        }
        for sequence, rule in ruled.items
    ]
    return show(
        request,
        "ui/route_map.html",
        "policies",
        {
            "name": name,
            "pointer": pointer,
            "rules": rules,
            "pager": ruled,
            "mark": row.mark,
            "users": users_of(row),
            "away": away,
            "api_calls": calls_for(pointer, row.settings),
        },
    )
