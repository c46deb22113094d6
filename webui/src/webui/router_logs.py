"""Logs of the router's parts, read through its agent: the web half reads no log files."""

from __future__ import annotations

from appliance.state.logs import LogPage, LogQuery
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.roles import Role
from webui.agent import agent


def page(actor: Actor, query: LogQuery) -> LogPage:
    """Lines that match. Raises ValidationFailed, RouterUnavailable."""
    actor.require(Role.OPERATOR)
    found = agent().logs(query)
    if query.after is None and query.before is None:
        audit.record(actor, "logs.read", query.part or "all")
    return found
