"""One LSA of the OSPF database with its body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET
from pydantic import ValidationError

from appliance.state.ospf_database import OSPF_DATABASE, LsaState, OspfDatabaseQuery
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.ui.api_call import reads
from webui.ui.page import look, look_at_candidate, show
from webui.ui.vrfs import chosen_vrf

_MOST_LINES = 2000
"""The most lines of the body; an LSA of 64 KiB has more links than a page can show."""
_INDENT = "\N{NO-BREAK SPACE}" * 3
_HEAD = {
    "lsaAge",
    "lsaType",
    "linkStateId",
    "advertisingRouter",
    "lsaSeqNumber",
    "checksum",
    "length",
}


@require_GET
@role_required(Role.VIEWER)
def ospf_lsa(request: HttpRequest, kind: str, lsa_id: str, router: str) -> HttpResponse:
    """One LSA, in each area that has it unless ``?area=`` names one."""
    area = request.GET.get("area", "")
    vrf = chosen_vrf(request, look_at_candidate(request)[0], lambda _: False)
    asked = {
        "type": kind,
        "lsa_id": lsa_id,
        "advertising_router": router,
        **({"area": area} if area else {}),
        **vrf.question,
    }
    try:
        query = OspfDatabaseQuery.model_validate(asked)
    except ValidationError:
        raise Http404("There is no such LSA.") from None
    live = look(lambda: agent().state(OSPF_DATABASE, query), None)
    lsas = live.value.lsas if live.value else ()
    one = f"type={query.type}&lsa_id={query.lsa_id}&advertising_router={router}{vrf.also}"
    return show(
        request,
        "ui/ospf_lsa.html",
        "ospf_database",
        {
            "kind": query.type,
            "lsa_id": lsa_id,
            "router": router,
            "vrf": vrf,
            "lsas": [(lsa, list(_facts(lsa)), *_body(lsa)) for lsa in lsas],
            "failure": live.failure,
            "api_calls": reads(("LSA", f"/state/ospf/database?{one}")),
        },
    )


def _facts(lsa: LsaState) -> Iterator[tuple[str, str]]:
    yield "Area", lsa.area or "whole AS"
    yield "Type", lsa.type
    yield "Link state ID", lsa.lsa_id
    yield "Advertising router", f"{lsa.advertising_router}{' (this router)' if lsa.own else ''}"
    yield "Age", "" if lsa.age_s is None else f"{lsa.age_s:,} s"
    yield "Sequence", lsa.sequence or ""
    yield "Checksum", lsa.checksum or ""
    yield "Length", "" if lsa.length_bytes is None else f"{lsa.length_bytes:,} bytes"


def _body(lsa: LsaState) -> tuple[list[tuple[str, str]], int]:
    """Lines of the body, indented by their depth, and the number of omitted ones."""
    lines = list(_lines({key: value for key, value in lsa.detail.items() if key not in _HEAD}, 0))
    return lines[:_MOST_LINES], max(0, len(lines) - _MOST_LINES)


def _lines(shown: Any, depth: int) -> Iterator[tuple[str, str]]:
    members = shown.items() if isinstance(shown, Mapping) else enumerate(shown, 1)
    for key, value in members:
        title = _INDENT * depth + str(key)
        if isinstance(value, Mapping | list):
            yield title, ""
            yield from _lines(value, depth + 1)
        else:
            yield title, "yes" if value is True else "no" if value is False else str(value)
