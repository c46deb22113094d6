"""From a request to its result, which is kept however it ends; and the conditions that refuse a commit."""

from __future__ import annotations

import logging
from collections.abc import Callable

from appliance.engine.committer import Committer
from appliance.engine.jobs import Jobs
from appliance.engine.outcomes import error_of
from appliance.engine.recorded import made_by
from appliance.engine.records import CommitResult
from appliance.engine.turns import Cancelled
from appliance.errors import Conflict, MillraceError

log = logging.getLogger(__name__)


def carry_out(
    jobs: Jobs,
    committer: Committer,
    request_id: str,
    mark: str,
    run: Callable[[], CommitResult],
    *,
    must_not_fail: bool = False,
) -> CommitResult:
    """The result of ``run``, or the earlier one of the same request; an error is in it, not raised.

    That of a commit that made a revision is written after the caller has it: the revision tells it, too.
    ``must_not_fail``: even on a full disk, as long as the agent's reserve lasts. Raises Conflict when the id
    was used for another request, ValidationFailed when it is not an id.
    """
    reserve = committer.reserve
    try:
        if must_not_fail:
            known = reserve.spend(lambda: jobs.begin(request_id, mark))
        else:
            known = jobs.begin(request_id, mark)
    except OSError as error:
        if not must_not_fail:
            return CommitResult(request_id, "failed", error=error_of(reserve.refusal(error)))
        log.error("the result of request %s cannot be kept: %s", request_id, error)
        known = None
    if known is not None:
        return known
    try:
        result = run()
    except Exception as error:
        if not isinstance(error, (MillraceError, Cancelled)):
            log.exception("commit %s failed unexpectedly", request_id)
        result = CommitResult(request_id, "failed", error=error_of(error))
        log.warning("commit %s failed: %.500s", request_id, error)
    if made_by(committer.store, result) is not None:
        jobs.finish_soon(result, mark, committer.disk)
        return result
    try:
        reserve.spend(lambda: jobs.finish(result, mark))
    except OSError as error:
        # The caller has the result, and the next start finds the revision by its request.
        log.error("the result of request %s cannot be kept: %s", request_id, error)
    return result


def refuse_while_others_decide(committer: Committer, base_revision: int | None) -> None:
    """Raises Conflict when the running revision is not the commit's base, or may still be rolled back."""
    running = committer.running.revision
    if base_revision not in (None, running):
        raise Conflict(f"the change is based on revision {base_revision}, but {running} runs")
    if (pending := committer.confirmation.pending) is not None:
        raise Conflict(f"revision {pending.revision} awaits confirmation: confirm it or roll it back first")
    if (watch := committer.watches.armed) is not None:
        left_s = committer.watches.left_s(watch)
        raise Conflict(
            f"revision {watch.revision} is watched for {left_s:.0f} more seconds and rolls back "
            "automatically if sessions or traffic get worse: wait, keep it, or roll it back first"
        )
    if (worse := committer.watches.condemned) is not None and worse.revision == running:
        raise Conflict(f"sessions or traffic got worse after revision {running}, and it is being rolled back")
