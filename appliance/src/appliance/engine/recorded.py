"""The revision that a commit made, as its answer shows it."""

from __future__ import annotations

from appliance.engine.records import CommitResult, Revision
from appliance.engine.store import RevisionStore
from appliance.errors import NotFound
from appliance.state.configuration import RecordedRevision


def made_by(store: RevisionStore, result: CommitResult) -> Revision | None:
    """The record that the request of this result made; None if it made none, or if it cannot be read."""
    if result.state != "done" or not result.revision:
        return None
    try:
        made = store.get(result.revision)
    except NotFound:
        return None
    return made if made.request_id == result.request_id else None


def recorded(store: RevisionStore, result: CommitResult) -> RecordedRevision | None:
    """The revision of this result; None if it made none, or if it cannot be read."""
    made = made_by(store, result)
    if made is None:
        return None
    try:
        base_digest = store.get(made.base_revision).digest if made.base_revision else ""
    except NotFound:
        return None
    return RecordedRevision.model_validate({**made.to_json(), "base_digest": base_digest})
