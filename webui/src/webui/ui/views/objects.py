"""The page of one object without a hand-made page."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from appliance.config.vrf_view import view_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.ui.api_call import calls_for
from webui.ui.objects import place_of
from webui.ui.page import Live, look_at_candidate, show
from webui.ui.pages import TABLES
from webui.ui.pointers import last, parent
from webui.ui.tables.cells import title_of
from webui.ui.tables.declaration import Page, Table
from webui.ui.tables.detail import facts_of, panels_of, row_at, users_of
from webui.ui.tables.in_vrf import table_in
from webui.ui.tables.listing import Asked, cells_of


def _declared(mapping: str) -> tuple[Page, Table]:
    """The page and table of a mapping, in any VRF."""
    mapping = view_of(mapping)[1]
    for page, table in TABLES.values():
        if table.mapping == mapping and mapping:
            return page, table
    raise Http404("There is no page for such an object.")


@require_GET
@role_required(Role.VIEWER)
def shown_object(request: HttpRequest, path: str) -> HttpResponse:
    """Settings, live values, the places that use the object, and other features' panels."""
    pointer = "/" + path
    page, table = _declared(parent(pointer))
    candidate, away = look_at_candidate(request)
    vrf = view_of(pointer)[0]
    live = Asked(vrf).rows(table) if not vrf or vrf in candidate.running.get("vrfs", {}) else Live({})
    table = table_in(table, vrf, candidate)
    row = row_at(candidate, pointer, (live.value or {}).get(last(pointer)))
    if row is None:
        if away:
            return show(request, "ui/object.html", page.name, {"away": away, "place": place_of(pointer)})
        raise Http404(f"There is no {table.noun} {last(pointer)}.")
    live_cells = [(title_of(cell.column, table), cell) for cell in cells_of(table, row) if cell.column.live]
    return show(
        request,
        "ui/object.html",
        page.name,
        {
            "row": row,
            "place": place_of(pointer),
            "facts": facts_of(row),
            "pages": list(table.pages(row)) if table.pages else [],
            "live": live_cells if row.state is not None else [],
            "panels": panels_of(row),
            "users": users_of(row),
            "away": away or live.failure,
            "api_calls": calls_for(pointer, dict(row.settings) or None),
        },
    )
