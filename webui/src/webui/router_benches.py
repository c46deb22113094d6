"""Benches, sent to the router's agent and recorded in the audit log, because commits wait for them."""

from __future__ import annotations

from appliance.state.benches import BenchState, BenchWanted
from webui.accounts.actor import Actor
from webui.accounts.audited import audited
from webui.accounts.roles import Role
from webui.agent import agent


def start(actor: Actor, wanted: BenchWanted) -> BenchState:
    """Start one. Raises Forbidden, or Conflict with the reason it cannot start."""
    actor.require(Role.ADMIN)
    words = (wanted.scenario, str(wanted.sized or ""), "anyway" if wanted.anyway else "")
    what = " ".join(filter(None, words))
    return audited(actor, "bench.start", what, lambda: agent().start_bench(wanted, author=actor.name))


def cancel(actor: Actor, bench: str) -> BenchState:
    """End one. Raises Forbidden, NotFound."""
    actor.require(Role.ADMIN)
    return audited(actor, "bench.cancel", bench, lambda: agent().cancel_bench(bench))
