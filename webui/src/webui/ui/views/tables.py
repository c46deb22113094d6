"""Pages of tables: the page, one table alone, a table as a file, and acting on many rows."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from appliance.errors import ValidationFailed
from webui.accounts.actor import actor_of
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.changes import services as changes
from webui.ui.api_call import reads
from webui.ui.candidate import Candidate
from webui.ui.guarded import View
from webui.ui.page import Live, candidate_of, look_at_candidate, open_change, show, tell
from webui.ui.pages import TABLES
from webui.ui.pointers import get
from webui.ui.problem_words import said
from webui.ui.signed_in import user_of
from webui.ui.tables.batch import switched, without
from webui.ui.tables.declaration import Fact, Page, Table
from webui.ui.tables.export import as_csv, as_json
from webui.ui.tables.in_vrf import is_of_vrf, page_in, path_in, table_in
from webui.ui.tables.listing import Asked, Listing, all_rows, chosen, listing
from webui.ui.tables.query import Query
from webui.ui.tables.searched import searched
from webui.ui.vrfs import ChosenVrf, chosen_vrf


def page_view(page: Page) -> View:
    """The view of a declared page."""

    @require_GET
    @role_required(Role.VIEWER)
    def view(request: HttpRequest) -> HttpResponse:
        return _page(request, page)

    view.__doc__ = f"The page {page.title}."
    return view


def _page(request: HttpRequest, page: Page) -> HttpResponse:
    candidate, away = look_at_candidate(request)
    vrf = _vrf(request, page, candidate)
    page = page_in(page, vrf.name, candidate)
    asked = Asked(vrf.name)
    query = Query.of(request.GET, vrf=vrf.name)
    tables = [_tab(request, page)] if page.tabs else list(page.tables)
    # The search and the button at the top are those of the first table with editable objects.
    main = next((table for table in tables if table.mapping), tables[0])
    runs = vrf.runs and (
        page.instance is None or get(candidate.running, page.instance.pointer, None) is not None
    )
    listings = [
        searched(table, candidate, request.GET, page.name, vrf.name)
        if table.search and runs
        else listing(
            table,
            candidate,
            asked.rows(table) if runs else Live({}),
            query if table is main else Query(vrf=vrf.name),
            page.name,
        )
        for table in tables
    ]
    instance = _instance(page, candidate, asked, tables)
    return show(
        request,
        "ui/page.html",
        page.name,
        {
            "page": page,
            "vrf": vrf,
            "listings": listings,
            "first": listings[tables.index(main)],
            "tabs": [
                (
                    one,
                    len(candidate.both(one.mapping)) if one.mapping and not candidate.unread else None,
                    one == tables[0],
                    Query(kind=one.name, vrf=vrf.name).address(),
                )
                for one in page.tables
            ]
            if page.tabs
            else [],
            "instance": instance,
            "away": away or next((one.away for one in listings if one.away), ""),
            "api_calls": reads(
                *(("Configuration", f"/config{one.mapping}") for one in tables if one.mapping),
                *dict.fromkeys(
                    ("State", path_in(vrf.name, one.live.path, one.live.source)) for one in tables if one.live
                ),
                *(
                    ("Search", path_in(vrf.name, f"/state/{one.search.part.where}", one.search.part))
                    for one in tables
                    if one.search
                ),
            ),
        },
    )


def _vrf(request: HttpRequest, page: Page, candidate: Candidate) -> ChosenVrf:
    """The VRF of the page; pages that belong to no VRF offer no choice."""
    return chosen_vrf(request, candidate) if is_of_vrf(page) else ChosenVrf()


def _tab(request: HttpRequest, page: Page) -> Table:
    wanted = request.GET.get("kind", page.tables[0].name)
    for table in page.tables:
        if table.name == wanted:
            return table
    raise Http404("There is no such list.")


def _instance(page: Page, candidate: Candidate, asked: Asked, tables: list[Table]) -> dict[str, Any] | None:
    """The page's singleton: whether it exists, its running and its candidate values."""
    if page.instance is None:
        return None
    now, after = (
        get(document, page.instance.pointer, None) for document in (candidate.running, candidate.document)
    )
    facts: list[Fact] = []
    if now is not None or after is not None:
        tells = now is not None and (not page.tabs or any(table.live for table in tables))
        live = asked.answer(page.instance.part).value if tells else None
        facts = list(page.instance.facts(now or {}, after or {}, live))
    return {
        "pointer": page.instance.pointer,
        "there": after is not None,
        "runs": now is not None,
        "facts": facts,
        "mark": candidate.mark(page.instance.pointer),
        "absent": f"Not known: {candidate.unread}" if candidate.unread else page.instance.absent,
        "unread": bool(candidate.unread),
        "setup": page.instance.setup,
        "edit": page.instance.edit,
    }


def _known(name: str) -> tuple[Page, Table]:
    if name not in TABLES:
        raise Http404("There is no such table.")
    return TABLES[name]


@require_GET
@role_required(Role.VIEWER)
def table(request: HttpRequest, name: str) -> HttpResponse:
    """One table alone, as a fragment; the page's address follows the user's question."""
    page, found = _known(name)
    shown = _listing(request, page, found)
    response = render(
        request,
        "ui/table.html",
        {
            "listing": shown,
            "may_edit": user_of(request).has_role(Role.ENGINEER),
            "may_operate": user_of(request).has_role(Role.OPERATOR),
        },
    )
    if request.GET.get("typed") == "1":
        response["HX-Replace-Url"] = shown.url
    return response


def _listing(request: HttpRequest, page: Page, found: Table) -> Listing:
    candidate, _ = look_at_candidate(request)
    vrf = _vrf(request, page, candidate)
    found = table_in(found, vrf.name, candidate)
    if found.search:
        return searched(found, candidate, request.GET, page.name, vrf.name)
    live = Asked(vrf.name).rows(found) if vrf.runs else Live({})
    return listing(found, candidate, live, Query.of(request.GET, vrf=vrf.name), page.name)


@require_GET
@role_required(Role.VIEWER)
def export(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """The table as a file, with the page's filter and order; all of its rows."""
    page, found = _known(name)
    if found.search:
        raise Http404("A search is not exported.")
    candidate = candidate_of(request)
    vrf = _vrf(request, page, candidate)
    found = table_in(found, vrf.name, candidate)
    live = Asked(vrf.name).rows(found).value if vrf.runs else {}
    rows = chosen(found, all_rows(found, candidate, live), Query.of(request.GET))
    if form == "csv":
        response = HttpResponse(as_csv(found, rows), content_type="text/csv; charset=utf-8")
    elif form == "json":
        response = HttpResponse(as_json(rows), content_type="application/json")
    else:
        raise Http404("A table is exported as csv or json.")
    where = f"-{vrf.name}" if vrf.name else ""
    response["Content-Disposition"] = f'attachment; filename="{found.name}{where}.{form}"'
    return response


@require_POST
@role_required(Role.ENGINEER)
def act(request: HttpRequest, name: str) -> HttpResponse:
    """Enables, disables or removes the chosen objects: one edit of the change set, or none."""
    page, found = _known(name)
    candidate, _ = look_at_candidate(request)
    vrf = _vrf(request, page, candidate).name
    found = table_in(found, vrf, candidate)
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = reverse(f"ui:{page.name}") + Query(kind=found.name if page.tabs else "", vrf=vrf).address()
    chosen_names = request.POST.getlist("name")
    action = request.POST.get("action", "")
    if not found.mapping or action not in ("enable", "disable", "delete"):
        raise Http404("There is no such action.")
    if not chosen_names:
        tell(request, "Choose at least one row first.", "warning")
        return redirect(back)
    actor, change = actor_of(request), open_change(request)
    document = changes.document(change)
    there = [one for one in chosen_names if one in get(document, found.mapping, {})]
    if not there:
        tell(request, "Nothing was done: what you chose is not in your configuration any more.", "warning")
        return redirect(back)
    try:
        if action == "delete":
            objects = without(document, found.mapping, there)
        else:
            objects = switched(document, found.mapping, there, action == "enable")
        changes.edit(actor, change, found.mapping, objects)
    except ValidationFailed as error:
        reasons = "; ".join(map(said, error.problems[:5]))
        tell(request, f"Nothing was {action}d. {reasons}.", "error")
        return redirect(back)
    words = found.noun if len(there) == 1 else found.plural[:1].lower() + found.plural[1:]
    done = {"enable": "enabled", "disable": "disabled", "delete": "removed"}[action]
    tell(request, f"{len(there)} {words} will be {done} when you commit.")
    return redirect(back)
