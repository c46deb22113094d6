"""Packet traces, sent to the router's agent and recorded in the audit log, because they show traffic."""

from __future__ import annotations

from appliance.state.traces import TRACES, TraceResult, TraceState, TraceWanted
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.audited import audited
from webui.accounts.roles import Role
from webui.agent import agent


def kept() -> tuple[TraceState, ...]:
    """Running and kept traces, the newest first."""
    return agent().state(TRACES).traces


def start(actor: Actor, wanted: TraceWanted) -> TraceState:
    """Start one. Raises ValidationFailed, NotFound, Conflict, RouterUnavailable."""
    parties = (
        f"{word} {network}"
        for word, network in (("from", wanted.source), ("to", wanted.destination))
        if network
    )
    what = " ".join((wanted.interface, *parties))
    return audited(actor, "trace.start", what, lambda: agent().start_trace(wanted, author=actor.name))


def stop(actor: Actor, trace: str) -> TraceState:
    """End one. Raises NotFound."""
    return audited(actor, "trace.stop", trace, lambda: agent().stop_trace(trace))


def remove(actor: Actor, trace: str) -> TraceState:
    """Remove one. Raises NotFound, Conflict while it runs."""
    return audited(actor, "trace.remove", trace, lambda: agent().remove_trace(trace))


def result(actor: Actor, trace: str) -> TraceResult:
    """One with its packets. Raises NotFound."""
    actor.require(Role.OPERATOR)
    found = agent().trace(trace)
    if found.packets:
        audit.record(actor, "trace.read", trace)
    return found
