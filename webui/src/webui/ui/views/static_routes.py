"""Static routes."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.ui.api_call import call, reads
from webui.ui.page import look_at_candidate, show
from webui.ui.pointers import join

_PER_PAGE = 200
_STATIC = "/routing/static"


@require_GET
@role_required(Role.VIEWER)
def static_routes(request: HttpRequest) -> HttpResponse:
    """Every static route of the candidate; ``?q=`` keeps those whose prefix or next hop contains the text."""
    candidate, away = look_at_candidate(request)
    wanted = request.GET.get("q", "").strip()
    routes = [
        (prefix, settings)
        for prefix, settings in candidate.both(_STATIC).items()
        if not wanted or wanted in prefix or any(wanted in str(hop) for hop in settings.get("next_hops", ()))
    ]
    page = Paginator(routes, _PER_PAGE).get_page(request.GET.get("page"))
    rows = [
        (prefix, settings, candidate.mark(_STATIC + join(prefix))) for prefix, settings in page.object_list
    ]
    example = {"next_hops": [{"address": "192.0.2.1"}]}
    return show(
        request,
        "ui/static_routes.html",
        "static_routes",
        {
            "rows": rows,
            "page": page,
            "q": wanted,
            "away": away,
            "api_calls": (
                *reads(("Read them", f"/config{_STATIC}")),
                call("Add one, as one commit", "PUT", f"/config{_STATIC}/198.51.100.0~124", example),
                call("See the plan first", "PUT", f"/config{_STATIC}/198.51.100.0~124?dry_run=true", example),
            ),
        },
    )
