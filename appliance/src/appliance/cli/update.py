"""``update``: merge the candidate's changes into what others have committed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from appliance.cli import text
from appliance.cli.candidate import Candidate, Side
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.client import AgentClient
from appliance.errors import Conflict

USAGE = "update [ours|theirs]          merge what others have committed since `configure`"
_KEEP: dict[tuple[str, ...], Side | None] = {(): None, ("ours",): "ours", ("theirs",): "theirs"}


def update(agent: AgentClient, candidate: Candidate, words: list[str]) -> Output:
    """Apply the candidate's changes to the running document; on a conflict, report it and change nothing."""
    if tuple(words) not in _KEEP:
        raise CommandError(USAGE)
    running = agent.config()
    conflicts = candidate.update(running.document, running.revision, _KEEP[tuple(words)])
    data = {"revision": running.revision, "conflicts": [vars(one) for one in conflicts]}
    if not conflicts:
        return Output(data, f"the candidate is now based on revision {running.revision}")
    lines = [
        f"{one.path}: {_side(one.ours)} here, {_side(one.theirs)} in revision {running.revision}"
        for one in conflicts
    ]
    lines.append("nothing was merged: `update ours` keeps the values here, `update theirs` the running ones")
    return Output(data, "\n".join(lines))


def _side(value: object) -> str:
    return "removed" if value is None else text.brief(value)


@contextmanager
def offered(agent: AgentClient, candidate: Candidate) -> Iterator[None]:
    """Adds advice to the error of a commit that is refused because others have committed meanwhile."""
    try:
        yield
    except Conflict as error:
        if agent.status().revision == candidate.revision:
            raise
        raise Conflict(f"{error}: `update` merges it and keeps the candidate's changes") from error
