"""The effect of a rollback, before it is carried out."""

from __future__ import annotations

from appliance.errors import Conflict
from webui.accounts.actor import Actor
from webui.agent import agent
from webui.changes import running
from webui.changes.results import Preview
from webui.changes.services import preview_document


def preview_rollback(actor: Actor, number: int) -> Preview:
    """Diff, steps and impact from the running document to that of a revision.

    Raises NotFound, and Conflict for the running revision.
    """
    now = running.now()
    if now.revision == number:
        raise Conflict(f"Revision {number} runs already.")
    return preview_document(agent().revision(number)["document"], now, actor.router_address)
