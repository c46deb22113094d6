"""Commits under way: the running one and its progress, those that wait, and cancelling one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.client import AgentClient
from appliance.client.answers import CommitAnswer
from appliance.state.commits import CommitUnderWay

USAGE = "cancel commit [ID]            stop and undo a running or waiting commit; without ID, the only one"
GOES_ON = "the commit goes on: `show commits` shows its progress, `cancel commit` stops and undoes it"
Tell = Callable[[CommitUnderWay], None]


def show_commits(agent: AgentClient, words: list[str]) -> Output:
    """The running commit, and the waiting ones in order."""
    if words:
        raise CommandError(f"{words[0]!r} is not expected here")
    found = agent.commits()
    under_way = [one for one in (found.running, *found.queued) if one is not None]
    lines = [line for one in under_way for line in _lines(one)]
    return Output(found.model_dump(mode="json"), "\n".join(lines) or "no commit is under way")


def _lines(one: CommitUnderWay) -> Iterator[str]:
    comment = f" ({text.clean(one.comment)})" if one.comment else ""
    since = f"since {one.begun_at}" if one.begun_at else f"asked for at {one.asked_at}"
    yield f"{one.id}: {one.kind} of {text.clean(one.author)}{comment}, {since}"
    yield f"  {text.clean(one.words)}"


def cancel(agent: AgentClient, author: str, words: list[str]) -> Output:
    """Cancel a commit by its ID; without an ID, the only one under way."""
    if not words or words[0] != "commit" or len(words) > 2:
        raise CommandError(USAGE)
    stopping = agent.cancel_commit(words[1] if len(words) == 2 else _only(agent), author=author)
    whose = f"the {stopping.kind} of {text.clean(stopping.author)}"
    if stopping.state == "queued":
        said = f"{whose} was cancelled before it changed anything"
    else:
        said = f"{whose} stops before its next step and is undone: show commits"
    return Output(stopping.model_dump(mode="json"), said)


def _only(agent: AgentClient) -> str:
    found = agent.commits()
    under_way = [one.id for one in (found.running, *found.queued) if one is not None and one.can_cancel]
    if not under_way:
        raise CommandError("there is no commit that can be cancelled")
    if len(under_way) > 1:
        raise CommandError(f"{len(under_way)} commits can be cancelled: give the ID from show commits")
    return under_way[0]


@contextmanager
def telling() -> Iterator[Tell | None]:
    """Shows a commit's progress on one line while it runs; None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = ""

    def tell(how_far: CommitUnderWay) -> None:
        nonlocal shown
        line = text.clean(how_far.words)[:100]
        if line != shown:
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
            shown = line

    try:
        yield tell
    except KeyboardInterrupt:
        raise CommandError(GOES_ON) from None
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _how_far(answer: CommitAnswer) -> str:
    how_far = "goes on" if answer.progress is None else text.clean(answer.progress.words)
    return f"the commit {how_far}"


def committed(answer: CommitAnswer) -> Output:
    """What a commit did, or its progress so far."""
    if answer.state == "running":
        return Output(dict(answer), f"{_how_far(answer)}: show commits, cancel commit {answer.request_id}")
    lines = [text.clean(step["summary"]) for step in answer.steps]
    lines.append(f"revision {answer.revision}")
    if answer.confirm_expires_at is not None:
        lines.append(f"confirm before {answer.confirm_expires_at:%H:%M:%S} UTC, or it is rolled back")
        if answer.confirm_reason:
            lines.append(f"because {text.clean(answer.confirm_reason)}")
    if watch := answer.outcome.watch_words:
        lines.append(f"{watch}: show watch")
    return Output(dict(answer), "\n".join(lines))
