"""Waiting for a commit: how often it is queried, and what is known about one that is not over."""

from __future__ import annotations

import time
from collections.abc import Callable

from appliance.client.answers import CommitAnswer
from appliance.state.commit_options import CommitOptions
from appliance.state.commits import CommitUnderWay

POLL_S = 0.2
"""How often a commit that takes longer is queried."""
Progress = Callable[[CommitUnderWay], None]


def first_wait(options: CommitOptions, progress: Progress | None) -> CommitOptions:
    """The options that the agent is given: where progress is shown, it answers with that soon."""
    return options if progress is None else options.waiting(POLL_S)


def end_of(
    answer: CommitAnswer, ask: Callable[[str], CommitAnswer], deadline: float, progress: Progress | None
) -> CommitAnswer:
    """The answer when the commit is over, or at ``deadline`` (monotonic) if no progress is shown."""
    while answer.state == "running" and (progress is not None or time.monotonic() < deadline):
        if progress is not None and (how_far := answer.progress) is not None:
            progress(how_far)
        time.sleep(POLL_S)
        answer = ask(answer.request_id)
    return answer


def running(request_id: str) -> CommitAnswer:
    """The answer for a commit that goes on."""
    return CommitAnswer(
        request_id=request_id,
        state="running",
        revision=None,
        steps=[],
        error=None,
        confirm_expires_at=None,
        confirm_reason="",
    )
