"""The changes of a revision, taken up again in a change set: also of one that was rolled back."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from appliance.config.merge import MergeConflict, Side, take_up
from appliance.errors import NotFound
from webui.accounts.actor import Actor
from webui.accounts.roles import Role
from webui.agent import agent
from webui.changes import documents, services
from webui.changes.models import ChangeSet


@dataclass(frozen=True)
class TakenUp:
    """The change set with the changes in it, or the conflicts for which nothing was done."""

    change: ChangeSet | None
    """None: nothing was done, and no change set was made for the changes."""
    added: bool = False
    """Whether the change set is another one now; if not, and without conflicts, it had them already."""
    conflicts: tuple[MergeConflict, ...] = ()


def take_up_revision(
    actor: Actor, number: int, change: ChangeSet | None = None, keep: Side | None = None
) -> TakenUp:
    """Put the changes of a revision into a change set, or into a new one on what runs.

    They are the difference between the revision and the one before it. ``keep`` says which side wins where
    the change set has another value there than both: "ours" is the change set. Raises NotFound, Forbidden,
    Conflict, and ValidationFailed where both together are no document.
    """
    actor.require(Role.ENGINEER)
    if change is not None:
        services.require_editable(actor, change)
    if number < 1:
        raise NotFound("Revision 0 changed nothing: it is the router without a configuration.")
    before, after = (agent().revision(one)["document"] for one in (number - 1, number))
    with transaction.atomic():
        target = change or services.start_change(actor, f"Changes of revision {number}")
        merged = take_up(before, after, target.document, keep)
        if merged.conflicts:
            if change is None:
                transaction.set_rollback(True)
            return TakenUp(change, conflicts=merged.conflicts)
        wanted = documents.read(merged.document, target.document)
        known = target.digest
        stored = services.apply(actor, target, wanted, f"changes of revision {number}")
        if stored.digest == known:
            # A new one would be empty.
            transaction.set_rollback(change is None)
            return TakenUp(change)
        return TakenUp(stored, added=True)
