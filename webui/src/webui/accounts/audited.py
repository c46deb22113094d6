"""Actions that an operator has the router carry out, each with its entry in the audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from appliance.errors import MillraceError
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.roles import Role

T = TypeVar("T")


def audited(actor: Actor, what: str, target: str, act: Callable[[], T]) -> T:
    """Do it, and record it even when it fails. Raises what the action raises, and Forbidden."""
    actor.require(Role.OPERATOR)
    try:
        answer = act()
    except MillraceError as error:
        audit.record(actor, what, target, result="failed", detail=str(error))
        raise
    audit.record(actor, what, target)
    return answer
