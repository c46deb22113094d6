"""The first page: whether the router is healthy, and its traffic."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from appliance.state.alarms import Alarms
from appliance.state.bgp import BGP
from appliance.state.counter_selection import Selection
from appliance.state.dataplane import DATAPLANE
from appliance.state.feeder import FEEDER
from appliance.state.health import HEALTH, Health
from appliance.state.interfaces import INTERFACES
from appliance.state.ospf import OSPF, OspfState
from appliance.state.system import SYSTEM
from webui.accounts.decorators import role_required
from webui.accounts.roles import Role
from webui.agent import agent
from webui.alarms import alarms as every_alarm
from webui.ui.api_call import reads
from webui.ui.candidate import Candidate
from webui.ui.page import look, look_at_candidate, show
from webui.ui.pages import bgp, interfaces
from webui.ui.shell import is_well, shell_of
from webui.ui.state import ospf_neighbors
from webui.ui.tables.cells import by_address
from webui.ui.tables.row import Row, rows_of

_SHARED_S = 2
_COUNTERS = Selection(frozenset(("workers", "drops")))
_CHARTS = 12
"""For more interfaces than this, a table is used instead of charts."""
_ALARMS = 8
"""The worst ones; the page of alarms shows all."""
_SPANS = {1: "span-12", 2: "span-6", 4: "span-6"}
"""Width of a chart by their number; by default three stand in a row."""


@require_GET
@role_required(Role.VIEWER)
def dashboard(request: HttpRequest) -> HttpResponse:
    """Throughput, sessions, drops, workers, health, drift and commits that wait for a confirmation."""
    candidate, away = look_at_candidate(request)
    live = look(lambda: agent().state(INTERFACES).by_name, {})
    rows = [(row, interfaces.status(row)) for row in rows_of(candidate, "/interfaces", live.value)]
    charted = [
        (row.name, status)
        for row, status in rows
        if row.mark != "added" and interfaces.kind(row) != "loopback" and status != "disabled"
    ][:_CHARTS]
    context: dict[str, Any] = {
        "charted": charted,
        "chart_span": _SPANS.get(len(charted), "span-4"),
        "away": away or live.failure,
        **_state(candidate),
        "api_calls": reads(
            ("Status of the router", "/state/health"),
            ("Processors, memory, disks, versions", "/state/system"),
            ("How VPP is sized, and why", "/state/dataplane"),
            ("Alarms", "/alarms"),
            ("Latest counters", "/counters"),
            ("Counters, one sample a second (SSE)", "/counters/stream"),
            ("Rates of the last hour", "/counters/history?range=1h"),
        ),
    }
    return show(request, "ui/dashboard.html", "dashboard", context)


@require_GET
@role_required(Role.VIEWER)
def dashboard_state(request: HttpRequest) -> HttpResponse:
    """The parts of the dashboard that refresh every few seconds, as a fragment."""
    candidate, _ = look_at_candidate(request)
    return render(request, "ui/dashboard_refresh.html", {"shell": shell_of(request), **_state(candidate)})


def _state(candidate: Candidate) -> dict[str, Any]:
    """The changing values; all viewers share one reading, so that more of them do not ask the router more
    often.
    """
    known: dict[str, Any] | None = cache.get("ui.dashboard")
    if known is None:
        known = _ask(candidate.running, candidate.unread)
        cache.set("ui.dashboard", known, _SHARED_S)
    return known


def _ask(running: dict[str, Any], unread: str) -> dict[str, Any]:
    sampled = look(lambda: agent().counters(_COUNTERS), {})
    judged = look(lambda: agent().state(HEALTH), Health(parts={}))
    health: Health = judged.value
    sessions = look(lambda: bgp.sessions(agent().state(BGP)), {})
    ospf = look(lambda: agent().state(OSPF), OspfState())
    machine = look(lambda: agent().state(SYSTEM), None)
    drops = sampled.value.get("drops") or {}
    workers = sampled.value.get("workers") or []
    alarms: Alarms = look(every_alarm, Alarms()).value
    return {
        "alarms": alarms.alarms[:_ALARMS],
        "more_alarms": max(0, len(alarms.alarms) - _ALARMS),
        "workers": workers,
        "system": machine.value,
        "unread": {
            "bgp": unread or sessions.failure,
            "ospf": unread or ospf.failure,
            "health": judged.failure,
            "drops": sampled.failure,
            "system": machine.failure,
        },
        "dataplane": look(lambda: agent().state(DATAPLANE), None).value,
        "feeder": look(lambda: agent().state(FEEDER), None).value,
        "drops": sorted(drops.items(), key=lambda drop: -_number(drop[1]))[:8],
        "health": [
            (part.label or name, is_well(part.state), part.detail or part.state)
            for name, part in health.parts.items()
        ],
        "sessions": [
            _session(row)
            for row in sorted(
                rows_of(Candidate(running, running, ()), "/routing/bgp/neighbors", sessions.value),
                key=lambda row: by_address(row.name),
            )
        ],
        "ospf_neighbors": ospf_neighbors(ospf.value),
        "runs_bgp": bool(running.get("routing", {}).get("bgp")),
        "runs_ospf": bool(running.get("routing", {}).get("ospf")),
    }


def _session(row: Row) -> dict[str, Any]:
    """A BGP session as the table shows it, without values of the document, because all viewers share it."""
    return {
        "address": row.name,
        "description": row.said("description") or row.live("description", ""),
        "remote_asn": bgp.asn(row),
        "status": bgp.status(row),
        "why_down": bgp.why_down(row),
        **{name: row.live(name) for name in ("since_s", "received", "sent")},
    }


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
