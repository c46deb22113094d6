"""``update``: the candidate's changes on what others have committed meanwhile."""

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
    """Start from what runs, with the same changes. Where both changed the same, say so and take nothing."""
    if tuple(words) not in _KEEP:
        raise CommandError(USAGE)
    running = agent.config()
    conflicts = candidate.update(running.document, running.revision, _KEEP[tuple(words)])
    data = {"revision": running.revision, "conflicts": [vars(one) for one in conflicts]}
    if not conflicts:
        return Output(data, f"the candidate is made from revision {running.revision} now")
    lines = [
        f"{one.path}: {_side(one.ours)} here, {_side(one.theirs)} in revision {running.revision}"
        for one in conflicts
    ]
    lines.append("nothing was merged: `update ours` keeps what is here, `update theirs` what runs")
    return Output(data, "\n".join(lines))


def _side(value: object) -> str:
    return "removed" if value is None else text.brief(value)


@contextmanager
def offered(agent: AgentClient, candidate: Candidate) -> Iterator[None]:
    """Say what to do where a commit is refused because others have committed meanwhile."""
    try:
        yield
    except Conflict as error:
        if agent.status().revision == candidate.revision:
            raise
        raise Conflict(f"{error}: `update` merges it and keeps the candidate's changes") from error
