"""``update`` and ``load changes``: merge what others, or an earlier revision, changed and the candidate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from appliance.cli import text
from appliance.cli.candidate import Candidate
from appliance.cli.errors import CommandError
from appliance.cli.output import Output, number
from appliance.client import AgentClient
from appliance.config.merge import MergeConflict, Side
from appliance.errors import Conflict

USAGE = "update [ours|theirs]          merge what others have committed since `configure`"
LOAD_USAGE = "load changes N [ours|theirs]  put the changes of revision N into the candidate"
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
    lines = _told(conflicts, running.revision)
    lines.append("nothing was merged: `update ours` keeps the values here, `update theirs` the running ones")
    return Output(data, "\n".join(lines))


def load(agent: AgentClient, candidate: Candidate, words: list[str]) -> Output:
    """Apply the changes of a revision to the candidate; on a conflict, report it and change nothing."""
    if len(words) < 2 or words[0] != "changes" or tuple(words[2:]) not in _KEEP:
        raise CommandError(LOAD_USAGE)
    revision = number(words[1], "revision")
    if revision < 1:
        raise CommandError("revision 0 changed nothing: it is the router without a configuration")
    before, after = (dict(agent.revision(one)["document"]) for one in (revision - 1, revision))
    known = candidate.document
    conflicts = candidate.take_up(before, after, _KEEP[tuple(words[2:])])
    data = {"revision": revision, "conflicts": [vars(one) for one in conflicts]}
    if not conflicts:
        same = candidate.document == known
        said = "has the changes of revision {} already" if same else "has the changes of revision {} now"
        return Output(data, f"the candidate {said.format(revision)}")
    lines = _told(conflicts, revision)
    lines.append(
        f"nothing was merged: `load changes {revision} ours` keeps the values here, `load changes {revision}"
        " theirs` takes those of the revision"
    )
    return Output(data, "\n".join(lines))


def _told(conflicts: Iterable[MergeConflict], revision: int) -> list[str]:
    return [
        f"{one.path}: {_side(one.ours)} here, {_side(one.theirs)} in revision {revision}" for one in conflicts
    ]


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
