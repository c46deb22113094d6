"""The revision that a commit made, as its answer shows it."""

from __future__ import annotations

from appliance.engine.records import CommitResult
from appliance.engine.store import RevisionStore
from appliance.errors import NotFound
from appliance.state.configuration import RecordedRevision


def recorded(store: RevisionStore, result: CommitResult) -> RecordedRevision | None:
    """The revision of this result; None if it made none, or if it cannot be read."""
    if result.state != "done" or not result.revision:
        return None
    try:
        made = store.get(result.revision)
        base_digest = store.get(made.base_revision).digest if made.base_revision else ""
    except NotFound:
        return None
    if made.request_id != result.request_id:
        return None
    return RecordedRevision.model_validate({**made.to_json(), "base_digest": base_digest})
