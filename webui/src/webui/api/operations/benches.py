"""Benches; their list is a part of the live state."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Path, Router, Status

from appliance.state.benches import BENCH_ID, BenchState, BenchWanted
from webui import router_benches
from webui.accounts.roles import Role
from webui.api.auth import actor, needs

router = Router(tags=["benches"])
BenchName = Annotated[str, Path(pattern=BENCH_ID, description="Its id.")]
_admin = needs(Role.ADMIN)


@router.post("/benches", auth=_admin, response={201: BenchState}, operation_id="start_bench")
def start(request: HttpRequest, body: BenchWanted) -> Any:
    """Measure how fast this router forwards. Commits wait meanwhile, 20 seconds at most."""
    return Status(201, router_benches.start(actor(request), body))


@router.post("/benches/{bench}/cancel", auth=_admin, response=BenchState, operation_id="cancel_bench")
def cancel(request: HttpRequest, bench: BenchName) -> Any:
    """End a bench; the router is as before when this answers."""
    return router_benches.cancel(actor(request), bench)
