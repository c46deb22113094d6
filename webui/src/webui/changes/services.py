"""Operations of users on change sets. Results for display are masked; sealed text stays in this module."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.db import transaction

from appliance.client import PlanAnswer
from appliance.config.diff import Change, diff_documents
from appliance.config.dump import digest
from appliance.config.edit import Edit
from appliance.config.merge import MergeConflict, Merged, merge
from appliance.config.secrets_in import mask
from appliance.errors import (
    AgentUnavailable,
    Conflict,
    MillraceError,
    Problem,
    Stale,
    ValidationFailed,
)
from appliance.state.commit_options import CommitOptions
from appliance.state.commits import CommitOutcome
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.models import User
from webui.accounts.roles import Role
from webui.agent import agent
from webui.changes import documents
from webui.changes import running as what_runs
from webui.changes.closing import MAX_OPEN, close
from webui.changes.commits import cancel, commit_document, confirm, keep, outcome, rollback, under_way
from webui.changes.history import compare, history, revision
from webui.changes.holding import hold, lock, note_end, refresh, unanswered
from webui.changes.models import ChangeSet
from webui.changes.models.change_set import ChangeState
from webui.changes.results import Preview, steps_of
from webui.changes.running import RunningDocument
from webui.errors import Forbidden, MergeConflicts

__all__ = [
    "apply", "base_document", "cancel", "commit", "compare", "confirm", "current", "delete", "diff",
    "discard", "document", "edit", "history", "keep", "note_end", "outcome", "preview",
    "preview_edit", "rebase", "refresh", "rename", "replace_document", "require_editable", "revision",
    "rollback", "running", "save", "start_change", "under_way", "value",
]  # fmt: skip


def running() -> RunningDocument:
    """The running document. Raises AgentUnavailable."""
    return what_runs.now()


def current(user: User) -> ChangeSet | None:
    """The user's most recently edited open change set."""
    return ChangeSet.objects.filter(owner=user, state=ChangeState.OPEN).first()


def start_change(actor: Actor, title: str = "", base: RunningDocument | None = None) -> ChangeSet:
    """A new change set on `base`, or on the running document."""
    actor.require(Role.ENGINEER)
    if len(title) > 120 or not title.isprintable():
        raise ValidationFailed([Problem("/title", "must be one line of at most 120 printable characters")])
    if ChangeSet.objects.filter(owner=actor.user, state=ChangeState.OPEN).count() >= MAX_OPEN:
        raise Conflict(f"You have {MAX_OPEN} open change sets: commit or discard one.")
    base = base or what_runs.now()
    return ChangeSet.objects.create(
        owner=actor.user,
        title=title,
        base_revision=base.revision,
        base_document=base.sealed,
        base_digest=base.digest,
        document=base.sealed,
        digest=base.digest,
    )


def document(change: ChangeSet) -> dict[str, Any]:
    """The candidate; secrets masked."""
    masked: dict[str, Any] = mask(change.document)
    return masked


def base_document(change: ChangeSet) -> dict[str, Any]:
    """The document that the change set started from; secrets masked."""
    masked: dict[str, Any] = mask(change.base_document)
    return masked


def value(change: ChangeSet | None, pointer: str) -> Any:
    """The value at the pointer of the candidate, or of the running document; masked. Raises NotFound."""
    whole = what_runs.now().sealed if change is None else change.document
    pointer = documents.canonical_pointer(pointer, whole)
    return mask(documents.value_at(whole, pointer), pointer)


def edit(actor: Actor, change: ChangeSet, pointer: str, new: Any) -> ChangeSet:
    """Put a value at the pointer. Raises ValidationFailed with pointers into the whole document."""
    return apply(actor, change, documents.put(change.document, pointer, new))


def save(
    actor: Actor, change: ChangeSet, pointer: str, new: Any, known: RunningDocument
) -> tuple[list[Problem], RunningDocument]:
    """Like `edit`; also returns, with one question, the obstacles to committing the candidate and the running
    document.

    Stores nothing where another document than `known` runs.
    """
    _mine(actor, change)
    _open(change)
    wanted = documents.made(change.document, documents.Edit(kind="put", pointer=pointer, value=new))
    seal = documents.has_clear_secrets(wanted)
    checked = agent().check(wanted, seal=seal, known=known.digest)
    runs = what_runs.learn(checked.running, known)
    if runs.digest == known.digest:
        _store(actor, change, wanted if checked.document is None else checked.document, checked.digest)
    return list(checked.problems), runs


def delete(actor: Actor, change: ChangeSet, pointer: str) -> ChangeSet:
    """Remove the value at the pointer. Raises NotFound."""
    return apply(actor, change, documents.remove(change.document, pointer))


def rename(actor: Actor, change: ChangeSet, pointer: str, new_key: str) -> ChangeSet:
    """Give the object at the pointer another key. References to it are not followed."""
    return apply(actor, change, documents.rename(change.document, pointer, new_key))


def replace_document(actor: Actor, change: ChangeSet, new: Any) -> ChangeSet:
    """Replace the candidate by a whole document."""
    return apply(actor, change, documents.read(new, change.document))


def apply(actor: Actor, change: ChangeSet, sealed: dict[str, Any], detail: str = "") -> ChangeSet:
    """Store an edited document, made from ``change.document``; Conflict if that has changed in between.

    ``detail`` is for the audit log.
    """
    require_editable(actor, change)
    return _store(actor, change, sealed, detail=detail)


def require_editable(actor: Actor, change: ChangeSet) -> None:
    """Raises Forbidden for somebody else's change set, Conflict for one that is closed or being committed."""
    _mine(actor, change)
    _open(change)


def _store(
    actor: Actor,
    change: ChangeSet,
    sealed: dict[str, Any],
    its_digest: str | None = None,
    detail: str = "",
) -> ChangeSet:
    if sealed == change.document:
        return change
    with transaction.atomic():
        locked = lock(change)
        changes = diff_documents(change.document, sealed)
        change.document = sealed
        change.digest = its_digest or digest(sealed)
        change.version = locked.version + 1
        change.save(update_fields=["document", "digest", "version", "updated_at"])
        audit.record(actor, "change.edit", f"change set {change.pk}", changes, detail=detail)
    return change


def diff(change: ChangeSet) -> list[Change]:
    """The candidate against its base, or the changes of a closed one without large values; secrets masked."""
    if not change.is_open:
        return [Change(**one) for one in change.changes]
    return diff_documents(change.base_document, change.document)


def preview(change: ChangeSet, caller_address: str | None = None) -> Preview:
    """The effect of a commit from this address now. Problems and conflicts are in the result, not raised.

    Raises Conflict for a closed change set.
    """
    if not change.is_open:
        raise Conflict(f"Change set {change.pk} is {change.state}.")
    if change.base_digest:
        # Usually its base still runs, and there is nothing to merge.
        with suppress(Stale, ValidationFailed):
            return _preview(agent().plan(change.document, caller_address, [change.base_digest]))
    now = what_runs.now()
    merged = _merged(change, now)
    if merged.conflicts:
        return Preview(now.revision, tuple(diff(change)), conflicts=merged.conflicts)
    return preview_document(merged.document, now, caller_address)


def preview_document(
    sealed: dict[str, Any], now: RunningDocument, caller_address: str | None = None
) -> Preview:
    """The effect of committing a sealed document over the running one, `now`."""
    try:
        plan = agent().plan(sealed, caller_address)
    except ValidationFailed as error:
        changes = tuple(diff_documents(now.sealed, sealed))
        return Preview(now.revision, changes, problems=error.problems)
    return _preview(plan)


def preview_edit(edit: Edit, match: Sequence[str] | None, caller_address: str | None = None) -> Preview:
    """The effect of committing an edit of the running document; see `commits.commit_edit`.

    Problems are in the result, except for an edit that is impossible or does not parse.
    """
    found = agent().plan_edit(edit, match=match, caller_address=caller_address)
    if found.plan is None:
        return Preview(found.base_revision, found.diff, problems=found.problems)
    return _preview(PlanAnswer(found.plan))


def _preview(plan: PlanAnswer) -> Preview:
    return Preview(
        base_revision=plan.base_revision,
        diff=tuple(Change(**change) for change in plan["diff"]),
        steps=steps_of(plan["steps"]),
        frr_diff=tuple(plan.get("frr_diff", ())),
        impacts=tuple(plan.get("impacts", ())),
        result=plan.result,
        summary=tuple(plan.summary),
        own_path=tuple(plan.get("own_path", ())),
        confirm_default_s=plan.get("confirm_default_s"),
    )


def commit(actor: Actor, change: ChangeSet, options: CommitOptions) -> CommitOutcome:
    """Merge the candidate onto the running document and commit the result.

    Raises MergeConflicts, ValidationFailed, Conflict, CommitFailed, AgentUnavailable; the change set is then
    still open, with its edits. During the commit nothing can be edited in it: such an edit would be in no
    revision.
    """
    _mine(actor, change)
    if change.commit_request != options.request_id:
        _open(change)
    hold(change, options.request_id)
    try:
        result, changes = _committed(actor, change, options.with_comment(change.title))
    except AgentUnavailable as error:
        # It may have been committed: if that is unknown now, the next reader finds out.
        result, changes = unanswered(change, error), None
    except MillraceError:
        hold(change, "")
        raise
    if result.state == "done":
        close(change, ChangeState.COMMITTED, result.revision, changes=changes)
    return result


def _committed(
    actor: Actor, change: ChangeSet, options: CommitOptions
) -> tuple[CommitOutcome, list[Change] | None]:
    """The outcome, and the changes from the base where they are known."""
    changes: list[Change] | None = None
    result: CommitOutcome | None = None
    if change.base_digest:
        # Usually its base still runs, and there is nothing to merge.
        with suppress(Stale):
            changes = diff(change)
            result = commit_document(actor, change.document, changes, change.base_digest, options)
    if result is None:
        changes, now = None, what_runs.now()
        merged = _merged(change, now)
        if merged.conflicts:
            raise MergeConflicts(merged.conflicts)
        wanted = documents.read(merged.document, now.sealed)
        difference = diff_documents(now.sealed, wanted)
        result = commit_document(actor, wanted, difference, now.revision, options)
    return result, changes


def rebase(actor: Actor, change: ChangeSet, onto: RunningDocument | None = None) -> list[MergeConflict]:
    """Rebase the candidate onto the running document. With conflicts, which are returned, nothing is
    changed.
    """
    _mine(actor, change)
    _open(change)
    onto = onto or what_runs.now()
    merged = _merged(change, onto)
    if merged.conflicts:
        return list(merged.conflicts)
    sealed = documents.read(merged.document, onto.sealed)
    with transaction.atomic():
        locked = lock(change)
        change.base_revision = onto.revision
        change.base_document, change.base_digest = onto.sealed, onto.digest
        change.document = sealed
        change.digest = digest(sealed)
        change.version = locked.version + 1
        change.save()
        audit.record(
            actor, "change.rebase", f"change set {change.pk}", detail=f"onto revision {onto.revision}"
        )
    return []


def discard(actor: Actor, change: ChangeSet) -> None:
    """Discard the change set. Its owner or an admin may."""
    if not actor.user.has_role(Role.ADMIN):
        _mine(actor, change)
    _open(change)
    close(change, ChangeState.DISCARDED)
    audit.record(actor, "change.discard", f"change set {change.pk}")


def _merged(change: ChangeSet, onto: RunningDocument) -> Merged:
    return merge(change.base_document, change.document, onto.sealed)


def _mine(actor: Actor, change: ChangeSet) -> None:
    actor.require(Role.ENGINEER)
    if change.owner_id != actor.user.pk:
        raise Forbidden(f"Change set {change.pk} belongs to {change.owner.username}.")


def _open(change: ChangeSet) -> None:
    refresh(change)
    if change.commit_request:
        raise Conflict(f"The commit of change set {change.pk} still runs.")
    if not change.is_open:
        raise Conflict(f"Change set {change.pk} is {change.state}.")
