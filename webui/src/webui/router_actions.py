"""Actions on the running router, sent to its agent and recorded in the audit log."""

from __future__ import annotations

from typing import TypeVar

from appliance.actions import Action, Done
from appliance.errors import MillraceError
from appliance.state import Question
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.roles import Role
from webui.agent import agent

Q = TypeVar("Q", bound=Question)


def act(actor: Actor, action: Action[Q], question: Q) -> Done:
    """Do it. Raises the agent's errors."""
    actor.require(Role.OPERATOR)
    name, target = f"action.{action.name}", action.target(question)
    try:
        answer = agent().act(action, question, author=actor.name)
    except MillraceError as error:
        audit.record(actor, name, target, result="failed", detail=str(error))
        raise
    audit.record(actor, name, target, detail="; ".join(answer.done))
    return answer
